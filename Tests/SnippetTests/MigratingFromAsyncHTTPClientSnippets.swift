// swift-format-ignore-file
// Written by Documentation/snippets.py from Documentation/Deferred.docc/Articles/MigratingFromAsyncHTTPClient.md.

import Deferred
import DeferredTesting
import Foundation
import TestSupport
import Testing

#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

@Suite(.ownThread, .timeLimit(.minutes(1)))
struct MigratingFromAsyncHTTPClientSnippets {
    @Test func `Before and after`() async throws {
#sourceLocation(file: "Documentation/Deferred.docc/Articles/MigratingFromAsyncHTTPClient.md", line: 84)
        struct User: Decodable, Sendable { let name: String }
        let server = try LoopbackServer { _ in .json(#"{"name": "Ada"}"#) }
        defer { server.stop() }
        let url = server.url("/user")
#sourceLocation()
#sourceLocation(file: "Documentation/Deferred.docc/Articles/MigratingFromAsyncHTTPClient.md", line: 90)






        var configuration = URLClient.Configuration()
        configuration.deadlines.total = .seconds(5)
        configuration.maximumBodySize = 1 << 20
        let client = URLClient(configuration: configuration)

        var request = URLRequest(url: url)
        request.setValue("application/json", forHTTPHeaderField: "Accept")
        let user = try await client.decode(User.self, from: request).get()
        await client.shutdown().value
#sourceLocation()
#sourceLocation(file: "Documentation/Deferred.docc/Articles/MigratingFromAsyncHTTPClient.md", line: 107)
        #expect(user.name == "Ada")
#sourceLocation()
    }
}
