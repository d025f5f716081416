// swift-format-ignore-file
// Written by Documentation/snippets.py from Documentation/Deferred.docc/Reference/DeferredNetworking/DeferredNetworking.md.

import Deferred
import DeferredTesting
import Foundation
import TestSupport
import Testing

#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

@Suite(.ownThread, .timeLimit(.minutes(1)))
struct DeferredNetworkingSnippets {
    @Test func `Overview`() async throws {
#sourceLocation(file: "Documentation/Deferred.docc/Reference/DeferredNetworking/DeferredNetworking.md", line: 8)
        struct User: Decodable, Sendable { let name: String }
        let server = try LoopbackServer { _ in .json(#"{"name": "Ada"}"#) }
        defer { server.stop() }
        let url = server.url("/users/1")
#sourceLocation()
#sourceLocation(file: "Documentation/Deferred.docc/Reference/DeferredNetworking/DeferredNetworking.md", line: 14)






        var configuration = URLClient.Configuration()
        configuration.deadlines.total = .seconds(30)
        let client = URLClient(configuration: configuration)

        let user = client.decode(User.self, from: URLRequest(url: url))
        user.uponSuccess(on: .main) { print("Hello, \($0.name)") }
        user.uponFailure(on: .main) { print("failed: \($0.localizedDescription)") }
#sourceLocation()
#sourceLocation(file: "Documentation/Deferred.docc/Reference/DeferredNetworking/DeferredNetworking.md", line: 29)
        #expect(try await user.value.name == "Ada")
        await client.shutdown().value
#sourceLocation()
    }
}
