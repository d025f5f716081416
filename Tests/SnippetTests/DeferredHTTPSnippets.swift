// swift-format-ignore-file
// Written by Documentation/snippets.py from Documentation/Deferred.docc/Reference/DeferredHTTP/DeferredHTTP.md.

import Deferred
import DeferredTesting
import TestSupport
import Testing

@Suite(.ownThread, .timeLimit(.minutes(1)))
struct DeferredHTTPSnippets {
    @Test func `Overview`() async throws {
#sourceLocation(file: "Documentation/Deferred.docc/Reference/DeferredHTTP/DeferredHTTP.md", line: 8)
        struct User: Decodable { let name: String }
        let server = try LoopbackServer { _ in .json(#"{"name": "Ada"}"#) }
        defer { server.stop() }
        let environment = HTTPEnvironment(scheme: "http", host: "127.0.0.1", port: Int(server.port))
#sourceLocation()
#sourceLocation(file: "Documentation/Deferred.docc/Reference/DeferredHTTP/DeferredHTTP.md", line: 14)


        let chain = Validate() --> Retry() --> Throttle(maximum: 8) --> ApplyEnvironment(environment) --> URLSessionLoader()

        let user = try await chain.load(HTTPRequest(path: "/users/1")).get().decode(User.self)
        print("Hello, \(user.name)")
#sourceLocation()
#sourceLocation(file: "Documentation/Deferred.docc/Reference/DeferredHTTP/DeferredHTTP.md", line: 22)
        #expect(user.name == "Ada")
#sourceLocation()
    }
}
