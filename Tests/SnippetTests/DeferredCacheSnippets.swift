// swift-format-ignore-file
// Written by Documentation/snippets.py from Documentation/Deferred.docc/Reference/DeferredCache/DeferredCache.md.

import Deferred
import DeferredTesting
import TestSupport
import Testing

@Suite(.ownThread, .timeLimit(.minutes(1)))
struct DeferredCacheSnippets {
    @Test func `Overview`() async throws {
#sourceLocation(file: "Documentation/Deferred.docc/Reference/DeferredCache/DeferredCache.md", line: 8)
        let server = try LoopbackServer { _ in .response(headers: ["Cache-Control": "max-age=60"], body: "Ada") }
        defer { server.stop() }
        let url = server.url("/users/1")
#sourceLocation()
#sourceLocation(file: "Documentation/Deferred.docc/Reference/DeferredCache/DeferredCache.md", line: 13)


        let chain = Validate() --> Cache(.memory()) --> Retry() --> URLSessionLoader()

        _ = try await chain.load(HTTPRequest(url: url)).get()
        let response = try await chain.load(HTTPRequest(url: url)).get()
        print(response.source)  // .cache(age: 0.0 seconds, isStale: false)
#sourceLocation()
#sourceLocation(file: "Documentation/Deferred.docc/Reference/DeferredCache/DeferredCache.md", line: 22)
        #expect(response.text == "Ada" && server.requests.count == 1)
#sourceLocation()
    }
}
