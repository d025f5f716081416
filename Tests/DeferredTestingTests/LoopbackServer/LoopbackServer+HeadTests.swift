import DeferredHTTP
import DeferredTesting
import Foundation
import TestSupport
import Testing

@Suite(.ownThread, .timeLimit(.minutes(1)))
struct LoopbackServerHeadTests {
    @Test(arguments: [
        LoopbackServer.Script.response(body: "hello"), .json("{}"), .chunked(["ab", "cd"]),
        .response(body: .pattern(count: 200_000)), .response(body: "hello").dripped(every: .zero),
        .response(103) + .response(body: "hello"), .response(404, body: "no"),
    ])
    func `a response to HEAD has no body, and the connection stays open`(script: LoopbackServer.Script) async throws {
        let server = try LoopbackServer { $0.method == "HEAD" ? script : .response(body: "next") }
        defer { server.stop() }
        let loader = URLSessionLoader()
        let head = try await loader.load(HTTPRequest(.head, url: server.url("/"))).get()
        #expect(head.body.isEmpty && [200, 404].contains(head.status.code))
        #expect(try await loader.load(HTTPRequest(url: server.url("/"))).get().text == "next")
        #expect(server.connectionCount == 1)
    }
}
