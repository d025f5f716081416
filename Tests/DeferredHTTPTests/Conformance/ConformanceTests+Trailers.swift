import DeferredHTTP
import DeferredTask
import DeferredTesting
import Foundation
import TestSupport
import Testing

extension ConformanceTests {
    /// The fields behind a body, of which URLSession knows nothing.
    @Suite("Trailers", .enabled(if: isLibcurlTested))
    struct Trailers {
        typealias Route = ConformanceServer.Route

        @Test(arguments: Route.available)
        func `trailer fields are received`(route: Route) async throws {
            let server = try ConformanceServer(route) { _ in
                .chunked(["the ", "body"], trailers: ["X-One": "first", "X-Two": "second", "X-Sum": "c0ffee"])
            }
            defer { server.stop() }
            let client = server.client()
            let (body, head) = try await client.begin(server.url()).get()
            let streamed = try await client.stream(server.url()).get()
            let chained = try await URLSessionLoader(client: client).load(HTTPRequest(url: server.url())).get()
            #expect(try await streamed.body.collect() == body && chained.body == body && body == Data("the body".utf8))
            for trailers in [head.trailers, streamed.body.trailers, chained.trailers] {
                #expect(trailers["X-One"] == "first" && trailers["X-Two"] == "second" && trailers["X-Sum"] == "c0ffee")
                #expect(trailers.count == 3)
            }
        }

        /// libcurl sends none over HTTP/2, so that a request which must have that is refused.
        @Test(arguments: Route.available)
        func `trailer fields are sent`(route: Route) async throws {
            let server = try ConformanceServer(route) { .response(body: .bytes($0.body)) }
            defer { server.stop() }
            let trailers = HTTPTrailers(["X-One", "X-Two"]) { ["X-One": "first", "X-Two": "second"] }
            let pieces = [Data("the ".utf8), Data("body".utf8)]
            let body = URLClient.UploadBody.stream(trailers: trailers) { HTTPBody.sequence(pieces) }
            let chained = HTTPBody.stream(trailers: trailers) { HTTPBody.sequence(pieces) }
            let client = server.client()
            let task = try client.upload(server.url(), from: body)
            let request = HTTPRequest(.post, url: try server.url(), body: chained)
            let response = URLSessionLoader(client: client).load(request)
            if route == .priorKnowledge {
                await #expect(throws: URLClientError.self) { try await task.get() }
                await #expect(throws: HTTPError.self) { try await response.get() }
                return
            }
            #expect(try await task.answer() == (200, "the body"))
            #expect(try await response.get().body == Data("the body".utf8))
            #expect(server.server.requests.map(\.body) == [Data("the body".utf8), Data("the body".utf8)])
            for request in server.server.requests {
                #expect(request.trailers["X-One"] == "first" && request.trailers["X-Two"] == "second")
            }
        }
    }
}
