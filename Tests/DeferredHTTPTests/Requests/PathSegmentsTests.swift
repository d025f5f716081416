import DeferredTesting
import Foundation
import TestSupport
import Testing

@testable import DeferredHTTP
@testable import DeferredNetworking

@Suite(.ownThread, .timeLimit(.minutes(1)))
struct PathSegmentsTests {
    /// The examples of RFC 3986, section 5.4, and what else a path can hold.
    private static let paths = [
        "/b/c/d/../g": "/b/c/g", "/b/c/./g": "/b/c/g", "/b/c/.": "/b/c/", "/b/c/..": "/b/", "/b/c/../..": "/",
        "/../g": "/g", "/b/c/../../../g": "/g", "/g.": "/g.", "/.g": "/.g", "/g..": "/g..", "/..g": "/..g",
        "/./g/.": "/g/", "/g/./h": "/g/h", "/g/../h": "/h", "/.": "/", "/..": "/", "/a//../b": "/a/b",
        "/a/%2e%2E/b": "/a/%2e%2E/b", "/a/.%2e": "/a/.%2e", "": "",
        "/": "/",
        "a/../b": "b", "../x": "x", "./": "", "/a/.../b": "/a/.../b",
    ]

    @Test func `dot segments of references are resolved`() {
        for (path, resolved) in Self.paths {
            #expect(PathSegments.resolved(path) == resolved, "\(path)")
            #expect(PathSegments.resolved(resolved) == resolved, "\(path)")
        }
    }

    /// Keys of an object store that others take for folders.
    private static let keys = [
        "/b/./x", "/b/a/./b", "/b/a/../b", "/b/..", "/b/.", "/..", "/a/%2e%2E/b", "/a/.%2e", "/a/b",
    ]

    @Test func `the path of a request is what was given`() throws {
        for path in Self.keys {
            let url = try #require(URL(string: "https://host\(path)?x=/../y"))
            let request = HTTPRequest(url: url)
            #expect(request.percentEncodedPath == path && request.url == url)
        }
        var request = HTTPRequest(host: "host", path: "/x/../../y")
        #expect(request.url?.absoluteString == "https://host/x/../../y")
        request.path = "/a/./c"
        #expect(request.percentEncodedPath == "/a/./c")
        let environment = ApplyEnvironment(HTTPEnvironment(host: "host", pathPrefix: "/bucket"))
        let stub = StubLoader(.response())
        (environment --> stub).load(HTTPRequest(path: "../x"))
        #expect(stub.requests.map(\.percentEncodedPath) == ["/bucket/../x"])
    }

    @Test func `a segment that leaves its folder is refused, unless it is set in the path`() throws {
        for segment in [".", ".."] {
            let stub = StubLoader(.response())
            var request = HTTPRequest(host: "host", path: "/a")
            request.appendPathSegments("d/..", "...", segment, "b")
            #expect(throws: URLClientError.self) { try request.check() }
            let task = (ApplyEnvironment(HTTPEnvironment(host: "host")) --> URLSessionLoader()).load(request)
            let error = try #require(task.errorNow)
            #expect(error.code == .invalidRequest && error.description.contains("\"\(segment)\" was appended"))
            request.path = "/a/" + segment
            #expect((stub as any HTTPLoader).load(request).statusNow == .ok)
            #expect(try request.check().absoluteString == "https://host/a/" + segment)
        }
    }

    @Test func `the path that a signature sees is the one that arrives, or none does`() async throws {
        let server = try LoopbackServer { _ in .response(204) }
        defer { server.stop() }
        let base = server.url("/").absoluteString.dropLast()
        for (loader, isLibcurl) in zip(URLSessionLoader.each, [false, true]) {
            let signed = Journal<String>()
            let chain = ModifyRequest { signed.add($0.percentEncodedPath) } --> loader
            let before = server.requestCount
            for path in Self.keys {
                let task = chain.load(HTTPRequest(url: try #require(URL(string: base + path))))
                if isLibcurl || path == "/a/b" {
                    #expect(try await task.get().status == 204)
                } else {
                    let error = await #expect(throws: HTTPError.self) { try await task.get() }
                    #expect(error?.code == .invalidRequest && error?.description.contains("libcurl") == true)
                }
            }
            let arrived = server.requests.dropFirst(before).map(\.target)
            #expect(arrived == (isLibcurl ? signed.entries : ["/a/b"]))
        }
    }

    @Test(arguments: ["../c", "/c/./d/..", "http://host/a/../c"])
    func `a redirect's dots are resolved`(reference: String) async throws {
        for (loader, isFollowedByClient) in URLSessionLoader.each.flatMap({ [($0, true), ($0, false)] }) {
            let server = try LoopbackServer { request in
                guard request.number == 1 else { return .response(200) }
                let host = request.headers["Host"] ?? ""
                return .redirect(to: reference.replacing("//host/", with: "//\(host)/"))
            }
            defer { server.stop() }
            let request = HTTPRequest(url: server.url("/a/b"))
            let chain: any HTTPLoader = isFollowedByClient ? loader : FollowRedirects() --> loader
            #expect(try await chain.load(request).get().status == .ok)
            #expect(server.requests.last?.target == (reference.hasPrefix("/c") ? "/c/" : "/c"))
        }
    }
}
