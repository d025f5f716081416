// swift-format-ignore-file
// Written by Documentation/snippets.py from Documentation/Deferred.docc/Deferred.md.

import Deferred
import DeferredTesting
import Foundation
import TestSupport
import Testing

@Suite(.ownThread, .timeLimit(.minutes(1)))
struct DeferredSnippets {
    @Test func `Overview`() async throws {
#sourceLocation(file: "Documentation/Deferred.docc/Deferred.md", line: 14)
        let server = try LoopbackServer { _ in .json(#"{"name": "Ada"}"#) }
        defer { server.stop() }
        let url = server.url("/user")
#sourceLocation()
#sourceLocation(file: "Documentation/Deferred.docc/Deferred.md", line: 19)



        struct User: Decodable { let name: String }

        let client = URLClient()
        let user = client.decode(User.self, from: url)  // retried when that is safe
        user.uponProgress(on: .any()) { print($0) }     // 45 %, 1.20 MB of 2.70 MB
        print(try await user.timeout(after: .seconds(5)).value.name)
#sourceLocation()
#sourceLocation(file: "Documentation/Deferred.docc/Deferred.md", line: 30)
        #expect(try await user.value.name == "Ada")
        await client.shutdown().value
#sourceLocation()
    }
}
