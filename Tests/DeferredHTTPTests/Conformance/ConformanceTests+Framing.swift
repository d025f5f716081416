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
    /// Where responses begin and end, and what is none.
    @Suite("Framing")
    struct Framing {
        /// Returns the answers, or the errors, of a request whose body is gathered, and of one whose body is read as it comes.
        private func results(of script: LoopbackServer.Script) async throws -> [Result<(HTTPStatus, String), any Error>]
        {
            let server = try ConformanceServer(.direct) { _ in script }
            defer { server.stop() }
            return try await results(of: server.url(), by: server.client())
        }

        private func results(of url: URL, by client: URLClient) async -> [Result<(HTTPStatus, String), any Error>] {
            let streamed = Task {
                let response = try await client.stream(url).get()
                return (response.head.status, String(decoding: try await response.body.collect(), as: UTF8.self))
            }
            return await [
                client.begin(url).map { ($1.status, String(decoding: $0, as: UTF8.self)) }.result, streamed.result,
            ]
        }

        private func isAnswer(_ result: Result<(HTTPStatus, String), any Error>, _ status: HTTPStatus, _ text: String)
            -> Bool
        {
            (try? result.get()).map { $0 == (status, text) } ?? false
        }

        @Test func `an answer that is not HTTP is an error`() async throws {
            for result in try await results(of: .raw("NONSENSE") + [.close]) {
                #expect(throws: URLError.self) { try result.get() }
            }
        }

        // URLSession on Linux takes the first, and refuses the second without its space.

        @Test(.enabled(if: isLibcurlTested))
        func `the name of the protocol in small letters is an error`() async throws {
            for result in try await results(of: .raw("Http/1.1 200 OK\r\nConnection: close\r\n\r\n") + [.close]) {
                #expect(throws: URLError.self) { try result.get() }
            }
        }

        @Test(.enabled(if: isLibcurlTested))
        func `a status line may lack the reason, and its space`() async throws {
            for line in ["HTTP/1.1 200", "HTTP/1.1 200 "] {
                for result in try await results(of: .raw("\(line)\r\nConnection: close\r\n\r\n") + [.close]) {
                    #expect(isAnswer(result, 200, ""), "\(result)")
                }
            }
        }

        @Test(arguments: [204, 304])
        func `a response that has no body may announce one`(status: Int) async throws {
            let head = "HTTP/1.1 \(status) Whatever\r\nContent-Length: 1000\r\n"
            for result in try await results(of: .raw("\(head)Connection: close\r\n\r\n") + [.close]) {
                #expect(isAnswer(result, HTTPStatus(status), ""), "\(result)")
            }
            // Nor does it end a connection that is kept.
            for result in try await results(of: .raw("\(head)\r\n")) {
                #expect(isAnswer(result, HTTPStatus(status), ""), "\(result)")
            }
        }

        @Test func `a body shorter than announced is an error`() async throws {
            for result in try await results(of: .response(body: "abcd", contentLength: 1_000) + [.close]) {
                #expect(throws: URLClientError.truncatedBody(received: 4, expected: 1_000)) { try result.get() }
            }
        }

        @Test func `a body without a length ends with the connection`() async throws {
            for result in try await results(of: .untilClose(body: "abcd")) {
                #expect(isAnswer(result, 200, "abcd"), "\(result)")
            }
        }

        @Test(arguments: ["10, 4", "4, 10", "4,4,10"])
        func `lengths that contradict each other are an error`(lengths: String) async throws {
            for result in try await results(
                of: .response(headers: ["Content-Length": lengths], body: "abcd") + [.close]
            ) {
                #expect(throws: URLError.self) { try result.get() }
            }
        }

        #if os(Linux)
        /// What can be said over HTTP/2, too, where frames end the body. A 204 must not announce one: RFC 9110, section 8.6,
        /// which nghttp2 takes for an error.
        @Test(.enabled(if: isLibcurlTested))
        func `it is the same over HTTP/2`() async throws {
            let rows: [(FrameServer.Frame, data: String?, answer: (HTTPStatus, String)?)] = [
                (.headers(304, ["content-length": "1000"], ends: true), nil, (304, "")),
                (.headers(200, ["content-length": "1000"]), "abcd", nil),
                (.headers(200), "abcd", (200, "abcd")),
                (.headers(200, ["content-length": "10, 4"]), "abcd", nil),
            ]
            for row in rows {
                let server = try FrameServer { $0.hasEnded ? [row.0] + (row.data.map { [.data($0)] } ?? []) : [] }
                var configuration = URLClient.Configuration()
                configuration.httpVersion = .http2
                configuration.retries = .none
                configuration.validation = .any
                for result in await results(of: server.url, by: URLClient(configuration: configuration)) {
                    if let answer = row.answer {
                        #expect(isAnswer(result, answer.0, answer.1), "\(row.0): \(result)")
                    } else {
                        #expect(throws: (any Error).self, "\(row.0)") { try result.get() }
                    }
                }
            }
        }
        #endif

        @Test(arguments: ConformanceServer.Route.available)
        func `a response to HEAD announces a body and has none`(route: ConformanceServer.Route) async throws {
            let server = try ConformanceServer(route) { _ in .response(body: .pattern(count: 1_000)) }
            defer { server.stop() }
            var request = URLRequest(url: try server.url())
            request.httpMethod = "HEAD"
            let client = server.client()
            // Twice, the second on the same connection.
            for _ in 0..<2 {
                let (body, head) = try await client.begin(request).get()
                #expect(head.status == 200 && body.isEmpty && head.headers["Content-Length"] == "1000")
                let stream = try await client.stream(request).get()
                #expect(stream.head.status == 200)
                #expect(try await stream.body.collect().isEmpty)
            }
        }
    }
}
