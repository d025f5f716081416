import DeferredHTTP
import DeferredTask
import DeferredTesting
import Foundation
import TestSupport
import Testing

#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

extension ConformanceTests {
    /// Methods, statuses, redirects and URLs.
    @Suite("Requests")
    struct Requests {
        typealias Route = ConformanceServer.Route

        @Test(arguments: Route.available, ["HEAD", "GET", "PUT", "POST", "DELETE"])
        func `each method gets its answer, which may be empty`(route: Route, method: String) async throws {
            let server = try ConformanceServer(route) { _ in .response(200) }
            defer { server.stop() }
            var request = URLRequest(url: try server.url())
            request.httpMethod = method
            let (body, head) = try await server.client().begin(request).get()
            #expect(head.status == 200 && body.isEmpty && head.trailers.isEmpty)
            #expect(server.server.requests.map(\.method) == [method] && server.server.requests[0].body.isEmpty)
        }

        @Test(arguments: Route.available, [404, 999])
        func `an error is a response, and so is a status that nobody has defined`(route: Route, status: Int)
            async throws
        {
            let server = try ConformanceServer(route) { _ in .response(status) }
            defer { server.stop() }
            let client = server.client()
            #expect(try await client.begin(server.url()).answer() == (HTTPStatus(status), ""))
            let response = try await URLSessionLoader(client: client).load(HTTPRequest(url: server.url())).get()
            #expect(response.status == HTTPStatus(status) && response.body.isEmpty)
        }

        @Test(arguments: Route.available, [301, 308])
        func `a redirect is followed`(route: Route, status: Int) async throws {
            let server = try ConformanceServer(route) { request in
                request.path == "/there" ? .response(body: "here") : .redirect(to: "/there", status: status)
            }
            defer { server.stop() }
            #expect(try await server.client().begin(server.url("/from")).answer() == (200, "here"))
            let requests = server.server.requests
            #expect(requests.map(\.path) == ["/from", "/there"])
            #expect(requests[1].method == "GET" && requests[1].body.isEmpty)
        }

        @Test(arguments: Route.available)
        func `redirects without an end are an error`(route: Route) async throws {
            let server = try ConformanceServer(route) { request in
                .redirect(to: request.path == "/ping" ? "/pong" : "/ping", status: 301)
            }
            defer { server.stop() }
            let task = try server.client().begin(server.url("/ping"))
            let error = await #expect(throws: URLError.self) { try await task.get() }
            #expect(error?.code == .httpTooManyRedirects)
        }

        @Test(arguments: Route.available)
        func `a hundred requests at once get their answers`(route: Route) async throws {
            let server = try ConformanceServer(route) { .response(body: .text($0.target)) }
            defer { server.stop() }
            let shared = server.client()
            // Half of them by a client each.
            let tasks = try (0..<100).map { number in
                (number % 2 == 0 ? shared : server.client()).begin(try server.url("/\(number)"))
            }
            for (number, task) in tasks.enumerated() { #expect(try await task.answer() == (200, "/\(number)")) }
            #expect(server.server.requestCount == 100)
        }

        @Test(arguments: Route.available)
        func `a GET takes a line`(route: Route) async throws {
            let server = try ConformanceServer(route) { .response(body: .text("\($0.method) \($0.body.count)")) }
            defer { server.stop() }
            #expect(try await server.client().begin(server.url()).answer() == (200, "GET 0"))
        }

        @Test(arguments: Route.available)
        func `a POST takes a line`(route: Route) async throws {
            let server = try ConformanceServer(route) { request in
                .response(body: .text("\(request.method) \(String(decoding: request.body, as: UTF8.self))"))
            }
            defer { server.stop() }
            let task = try server.client().upload(server.url(), from: .data(Data("hello".utf8)))
            #expect(try await task.answer() == (200, "POST hello"))
        }

        @Test(arguments: Route.available)
        func `the items of a query arrive in order, also empty ones and those with one name`(route: Route) async throws
        {
            let server = try ConformanceServer(route) { _ in .response(200) }
            defer { server.stop() }
            let items = [("a", "1"), ("b", "2 & 3"), ("empty", ""), ("a", "ä+")].map {
                URLQueryItem(name: $0.0, value: $0.1)
            }
            var components = try #require(URLComponents(url: server.url("/query"), resolvingAgainstBaseURL: false))
            components.queryItems = items
            let client = server.client()
            #expect(try await client.begin(#require(components.url)).answer().status == 200)
            var request = HTTPRequest(url: try server.url("/query"))
            request.query = items
            #expect(try await URLSessionLoader(client: client).load(request).get().status == 200)
            #expect(server.server.requests.map(\.queryItems) == [items, items])
        }
    }
}
