import DeferredTesting
import Foundation
import TestSupport
import Testing

@testable import DeferredHTTP

@Suite(.ownThread, .timeLimit(.minutes(1)))
struct PathSegmentsTests {
    /// The examples of RFC 3986, section 5.4, and what else a path can hold.
    private static let paths = [
        "/b/c/d/../g": "/b/c/g", "/b/c/./g": "/b/c/g", "/b/c/.": "/b/c/", "/b/c/..": "/b/", "/b/c/../..": "/",
        "/../g": "/g", "/b/c/../../../g": "/g", "/g.": "/g.", "/.g": "/.g", "/g..": "/g..", "/..g": "/..g",
        "/./g/.": "/g/", "/g/./h": "/g/h", "/g/../h": "/h", "/.": "/", "/..": "/", "/a//../b": "/a/b",
        "/a/%2e%2E/b": "/b", "/a/.%2e": "/", "/a/%2E/b": "/a/b", "/a/%2e%2e%2e/%2f": "/a/%2e%2e%2e/%2f", "": "",
        "/": "/",
        "a/../b": "b", "../x": "x", "./": "", "/a/.../b": "/a/.../b",
    ]

    @Test func `dot segments are resolved`() {
        for (path, resolved) in Self.paths {
            #expect(PathSegments.resolved(path) == resolved, "\(path)")
            #expect(PathSegments.resolved(resolved) == resolved, "\(path)")
        }
    }

    @Test func `however a request is made`() throws {
        var request = try HTTPRequest(url: #require(URL(string: "https://host/a/../b?x=/../y")))
        #expect(request.percentEncodedPath == "/b" && request.url?.absoluteString == "https://host/b?x=/../y")
        request.path = "/a/./c"
        #expect(request.path == "/a/c")
        request.appendPathSegments("..", "d/..", ".")
        #expect(request.percentEncodedPath == "/a/d%2F../")
        #expect(HTTPRequest(host: "host", path: "/x/../../y").percentEncodedPath == "/y")
        let environment = ApplyEnvironment(HTTPEnvironment(host: "host", pathPrefix: "/v1/../v2"))
        let stub = StubLoader(.response())
        (environment --> stub).load(HTTPRequest(path: "../x"))
        #expect(stub.requests.map(\.percentEncodedPath) == ["/v2/x"])
    }

    @Test func `the path that a signature sees is the one that arrives`() async throws {
        let server = try LoopbackServer { _ in .status(204) }
        defer { server.stop() }
        let signed = TestSupport.Log<String>()
        for loader in URLSessionLoader.each {
            let chain = ModifyRequest { signed.add($0.percentEncodedPath) } --> loader
            for path in Self.paths.keys.sorted() where path.hasPrefix("/") {
                _ = try await chain.load(HTTPRequest(url: server.url(path))).get()
            }
        }
        #expect(server.requests.map(\.target) == signed.entries)
    }
}
