import DeferredCore
import DeferredNetworking
import DeferredTask
import DeferredTesting
import Foundation
import TestSupport
import Testing

#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

extension URLSessionTests {
    @Suite("Redirects")
    struct Redirects {
        @Test func `headers for one origin do not reach another`() async throws {
            let other = try LoopbackServer { _ in .response(body: "other") }
            defer { other.stop() }
            let server = try LoopbackServer { _ in .redirect(to: other.url("/").absoluteString) }
            defer { server.stop() }
            let request = URLRequest(server.url("/")) {
                $0.setValue("Bearer secret", forHTTPHeaderField: "Authorization")
                $0.setValue("id=secret", forHTTPHeaderField: "Cookie")
                $0.setValue("kept", forHTTPHeaderField: "X-Other")
            }
            #expect(try await URLSession.fresh().beginDataTask(with: request).text() == "other")
            let first = try #require(server.requests.first).headers
            #expect(first["Authorization"] == "Bearer secret")
            #expect(first["Cookie"] == "id=secret")
            let second = try #require(other.requests.first).headers
            #expect(second["Authorization"] == nil)
            #expect(second["Cookie"] == nil)
            #expect(second["X-Other"] == "kept")
        }

        @Test func `headers for one origin stay with it`() async throws {
            let server = try LoopbackServer { $0.path == "/" ? .redirect(to: "/next") : .response(200) }
            defer { server.stop() }
            let request = URLRequest(server.url("/")) {
                $0.setValue("Bearer secret", forHTTPHeaderField: "Authorization")
            }
            #expect(await URLSession.fresh().beginDataTask(with: request).ending() == .status(200))
            #expect(server.requests.map { $0.headers["Authorization"] } == ["Bearer secret", "Bearer secret"])
        }

        @Test func `a loop ends after twenty redirects`() async throws {
            let server = try LoopbackServer { _ in .redirect(to: "/") }
            defer { server.stop() }
            let error = await URLSession.fresh().beginDataTask(with: server.url("/")).failure() as? URLError
            #expect(error?.code == .httpTooManyRedirects)
            #expect(error?.failingURL == server.url("/"))
            #expect(server.requestCount == 21)
        }

        @Test(arguments: [301, 302, 303])
        func `a POST becomes a GET without its body`(status: Int) async throws {
            let server = try LoopbackServer { $0.path == "/" ? .redirect(to: "/next", status: status) : .response(200) }
            defer { server.stop() }
            let task = URLSession.fresh().beginDataTask(with: .post(server.url("/"), Data("body".utf8)))
            #expect(await task.ending() == .status(200))
            let second = try #require(server.requests.last)
            #expect(second.method == "GET")
            #expect(second.body.isEmpty)
            #expect(second.headers["Content-Length"] == nil)
            #expect(second.headers["Content-Type"] == nil)
        }

        @Test(arguments: [
            HTTPHeaders(), ["Location": ""], ["Location": "ftp://127.0.0.1/file"], ["Location": "mailto:me"],
            ["Location": "file:///etc/passwd"], ["Location": "javascript:alert(1)"],
        ])
        func `a redirect without a target that can be followed is delivered`(headers: HTTPHeaders)
            async throws
        {
            let server = try LoopbackServer { _ in .response(302, headers: headers) }
            defer { server.stop() }
            #expect(await URLSession.fresh().beginDataTask(with: server.url("/")).ending() == .status(302))
            #expect(server.requestCount == 1)
        }

        @Test func `targets are resolved against the URL that redirects`() async throws {
            let server = try LoopbackServer { request in
                switch request.target {
                case "/a/b?q": .redirect(to: "../c?x=%2F")
                case "/c?x=%2F": .redirect(to: "?n=7")
                case "/c?n=7":
                    .redirect(to: "//127.0.0.1:\(request.headers["Host"]?.split(separator: ":").last ?? "")/d")
                case "/d": .response(body: "here")
                default: .response(404)
                }
            }
            defer { server.stop() }
            #expect(try await URLSession.fresh().beginDataTask(with: server.url("/a/b?q")).text() == "here")
        }

        @Test func `the body of a redirect does not count`() async throws {
            let server = try LoopbackServer { request in
                request.path == "/"
                    ? .response(302, headers: ["Location": "/next"], body: .pattern(count: 300_000))
                    : .response(body: "end")
            }
            defer { server.stop() }
            let task = URLSession.fresh().beginDataTask(with: server.url("/"))
            #expect(try await task.text() == "end")
        }
    }
}
