import DeferredCore
import DeferredTask
import DeferredTesting
import Foundation
import TestSupport
import Testing

@testable import DeferredNetworking

#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

extension URLClientTests {
    /// Fields behind bodies: RFC 9110, section 6.5.
    @Suite("Trailers", .enabled(if: isLibcurlTested))
    struct Trailers {
        private static let chunked = LoopbackServer.Script.chunked(
            ["ab", "c"],
            headers: ["X-Head": "1", "Trailer": "X-Sum, X-Tail"],
            trailers: [
                "X-Sum": "abc", "X-Tail": "1", "x-tail": "2", "X-Head": "forged", "Content-Length": "7",
                "Set-Cookie": "a=b",
                "Authorization": "no", "Location": "/no",
            ]
        )
        private static let expected: HTTPHeaders = ["X-Sum": "abc", "X-Tail": "1", "x-tail": "2", "X-Head": "forged"]

        private static func put(_ url: URL) -> URLRequest { URLRequest(url) { $0.httpMethod = "PUT" } }

        @Test func `those of a response come with its head, apart from its fields, and without those of framing`()
            async throws
        {
            let server = try LoopbackServer { _ in Self.chunked }
            defer { server.stop() }
            let client = URLClient.fresh()
            let (data, head) = try await client.begin(server.url("/")).get()
            #expect(data == Data("abc".utf8) && head.trailers == Self.expected && head.headers["X-Head"] == "1")
            #expect(head.headers["X-Sum"] == nil && head.headers["Content-Length"] == nil)
            // The next response on the connection has none of them.
            let directory = try TemporaryDirectory()
            let file = try await client.download(server.url("/"), to: directory.url.appending(path: "file")).get().1
            #expect(file.trailers == Self.expected)
        }

        @Test func `trailers that are too long are refused as such`() async throws {
            let trailers = HTTPTrailers(["X-Sum"]) { ["X-Sum": String(repeating: "a", count: 64 << 10)] }
            let error = await #expect(throws: URLClientError.self) { try await trailers.fields() }
            #expect("\(try #require(error))".contains("65545 bytes"))
        }

        @Test func `those of a stream are there when it was read to its end`() async throws {
            let server = try LoopbackServer { _ in Self.chunked }
            defer { server.stop() }
            let response = try await URLClient.fresh().stream(server.url("/")).get()
            #expect(response.head.trailers.isEmpty && response.body.trailers.isEmpty)
            #expect(try await response.body.collect() == Data("abc".utf8))
            #expect(response.body.trailers == Self.expected)
        }

        @Test func `a connection goes on after trailers, and they belong to one response`() async throws {
            let server = try LoopbackServer { $0.number == 2 ? .response(body: "plain") : Self.chunked }
            defer { server.stop() }
            let client = URLClient.fresh { $0.maximumConnectionsPerHost = 1 }
            for number in 1...3 {
                let head = try await client.begin(server.url("/")).get().1
                #expect(head.trailers == (number == 2 ? [:] : Self.expected))
            }
            #expect(server.connectionCount == 1)
        }

        /// The lines, and parts of what is said of them: by libcurl first, in some versions.
        private static let bad: [(lines: String, parts: [String])] = [
            ("no colon\r\n", ["chunked", "without a colon", "Invalid response header"]),
            (" X: folded\r\n", ["folded"]), ("X Y: 1\r\n", ["invalid name"]), ("X: \u{0}\r\n", ["ul"]),
            (String(repeating: "X: y\r\n", count: 10_001), ["more than 10000", "Too many response headers"]),
        ]

        @Test(arguments: bad)
        func `malformed and endless trailers fail the request`(lines: String, parts: [String]) async throws {
            let server = try LoopbackServer { _ in
                [
                    .send("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n1\r\na\r\n0\r\n"),
                    .send(.text(lines + "\r\n")),
                ]
            }
            defer { server.stop() }
            let client = URLClient.fresh { $0.retries = .none }
            let error = await client.begin(server.url("/")).failure() as? URLError
            #expect([.badServerResponse, .networkConnectionLost, .cannotParseResponse].contains(error?.code))
            let text = "\(String(describing: error))"
            if error?.code == .badServerResponse { #expect(parts.contains(where: text.contains), "\(text)") }
            await #expect(throws: URLError.self) {
                try await client.stream(server.url("/")).get().body.collect()
            }
        }

        @Test func `a request's are sent behind its body, anew for each attempt`() async throws {
            let server = try LoopbackServer { .response($0.number == 1 ? 503 : 200, body: "ok") }
            defer { server.stop() }
            let client = URLClient.fresh { $0.retries.attempts = 2 }
            let count = Log<Int>()
            let trailers = HTTPTrailers(["X-Count", "X-None"]) {
                count.add(1)
                return ["X-Count": "\(count.entries.count)", "x-count": "again"]
            }
            let body = URLClient.UploadBody.stream(trailers: trailers) {
                AsyncStream<Data> { continuation in
                    for text in ["ab", "c"] { continuation.yield(Data(text.utf8)) }
                    continuation.finish()
                }
            }
            #expect(try await client.upload(Self.put(server.url("/")), from: body).text() == "ok")
            #expect(server.requests.map { String(decoding: $0.body, as: UTF8.self) } == ["abc", "abc"])
            #expect(server.requests.map(\.trailers) == [1, 2].map { ["X-Count": "\($0)", "x-count": "again"] })
            #expect(server.requests.map { $0.headers["Trailer"] } == ["X-Count, X-None", "X-Count, X-None"])
            // The same handle has no trailers for another body.
            _ = try await client.upload(Self.put(server.url("/")), from: .stream { AsyncStream.ofOne("x") }).get()
            #expect(server.requests[2].trailers == [:] && server.requests[2].headers["Trailer"] == nil)
        }

        @Test(arguments: ["abc", ""])
        func `those of a request are made anew when a connection is lost before the answer`(text: String) async throws {
            let server = try LoopbackServer { $0.number == 2 ? [.close] : .response(body: "ok") }
            defer { server.stop() }
            let client = URLClient.fresh {
                $0.maximumConnectionsPerHost = 1
                $0.retries.attempts = 2
                $0.retries.base = .zero
            }
            _ = try await client.begin(server.url("/")).get()
            let count = Log<Int>()
            let trailers = HTTPTrailers(["X-Count"]) {
                count.add(1)
                return ["X-Count": "\(count.entries.count)"]
            }
            let body = URLClient.UploadBody.stream(trailers: trailers) {
                AsyncStream<Data> { continuation in
                    if !text.isEmpty { continuation.yield(Data(text.utf8)) }
                    continuation.finish()
                }
            }
            // libcurl would send it again by itself, and go on behind the lines.
            #expect(try await client.upload(Self.put(server.url("/")), from: body).text() == "ok")
            let last = try #require(server.requests.last)
            #expect(last.number == 3 && last.body == Data(text.utf8) && last.trailers == ["X-Count": "2"])
        }

        @Test func `an error of the closure, and a field that was not announced, fail the request`() async throws {
            struct Failure: Error {}
            let server = try LoopbackServer { _ in .response(body: "ok") }
            defer { server.stop() }
            let client = URLClient.fresh()
            func error(_ make: @escaping @Sendable () throws -> HTTPHeaders) async -> (any Error)? {
                let body = URLClient.UploadBody.stream(trailers: HTTPTrailers(["X-A"]) { try make() }) {
                    AsyncStream.ofOne("abc")
                }
                return await client.upload(Self.put(server.url("/")), from: body).failure()
            }
            #expect(await error { throw Failure() } is Failure)
            for fields in [["X-B": "1"], ["X-A": "1\r\nX-C: 2"]] as [HTTPHeaders] {
                #expect(await error { fields }.isInvalid)
            }
            #expect(server.requests.allSatisfy { $0.trailers == [:] })
        }

        @Test(arguments: ["Content-Length", "Host", "authorization", "Set-Cookie", "", "a b", "Transfer-Encoding"])
        func `names that a trailer must not have are refused`(name: String) async throws {
            let server = try LoopbackServer { _ in .response(body: "ok") }
            defer { server.stop() }
            let body = URLClient.UploadBody.stream(trailers: HTTPTrailers([name]) { [:] }) { AsyncStream.ofOne("abc") }
            let result = await URLClient.fresh().upload(Self.put(server.url("/")), from: body).failure()
            #expect(result.isInvalid)
            #expect(server.requests.isEmpty)
        }

        @Test func `they need chunks, HTTP/1.1 and libcurl, and the error says so`() async throws {
            let server = try LoopbackServer { _ in .response(body: "ok") }
            defer { server.stop() }
            let trailers = HTTPTrailers(["X-A"]) { ["X-A": "1"] }
            func reason(_ body: URLClient.UploadBody, _ client: URLClient = .fresh()) async -> String {
                "\(await client.upload(Self.put(server.url("/")), from: body).failure() ?? URLError(.unknown))"
            }
            #expect(
                await reason(.stream(length: 3, trailers: trailers) { AsyncStream.ofOne("abc") }).contains("chunks")
            )
            #expect(
                await reason(.stream(spooled: true, trailers: trailers) { AsyncStream.ofOne("abc") }).contains("chunks")
            )
            let overHTTP2 = URLClient.fresh { $0.httpVersion = .http2 }
            #expect(
                await reason(.stream(trailers: trailers) { AsyncStream.ofOne("abc") }, overHTTP2).contains("HTTP/2")
            )
            let session = URLClient.fresh { $0.engine = .urlSession }
            #expect(await reason(.stream(trailers: trailers) { AsyncStream.ofOne("abc") }, session).contains("libcurl"))
            #expect(server.requests.isEmpty)
        }
    }

    /// Heads before that of the response: RFC 9110, section 15.2.
    @Suite("Interim responses", .enabled(if: isLibcurlTested))
    struct InterimResponses {
        private static let hints = LoopbackServer.Script.response(
            103,
            headers: ["Link": "</a.css>; rel=preload; as=style", "link": "</b.js>; rel=preload"]
        )

        @Test(arguments: [0, 1, 20])
        func `they come in order, before the response, and at most 16`(count: Int) async throws {
            let server = try LoopbackServer { request in
                let many = (0..<count).map { LoopbackServer.Script.response(102, headers: ["X-Number": "\($0)"]) }
                return ([Self.hints] + many).reduce([], +) + .response(headers: ["X-Final": "1"], body: "ok")
            }
            defer { server.stop() }
            let heads = Log<ResponseHead>()
            let options = URLClient.RequestOptions(onInterimResponse: { heads.add($0) })
            let (data, head) = try await URLClient.fresh().begin(server.url("/page"), options: options).get()
            #expect(data == Data("ok".utf8) && head.status == 200 && head.headers["X-Number"] == nil)
            #expect(heads.entries.map(\.status) == [103] + Array(repeating: 102, count: min(count, 15)))
            #expect(heads.entries.dropFirst().map { $0.headers["X-Number"] } == (0..<min(count, 15)).map { "\($0)" })
            #expect(heads.entries[0].links.map(\.url.path) == ["/a.css", "/b.js"])
            #expect(heads.entries[0].links[0].parameters["as"] == "style")
        }

        @Test func `those of each response count, also of a redirect and a retry, and a 100 is none`() async throws {
            let server = try LoopbackServer { request in
                switch request.number {
                case 1: Self.hints + .redirect(to: "/there", status: 307)
                case 2: Self.hints + .response(503)
                default: .response(100) + Self.hints + .response(body: "ok")
                }
            }
            defer { server.stop() }
            let heads = Log<ResponseHead>()
            let options = URLClient.RequestOptions(onInterimResponse: { heads.add($0) })
            let client = URLClient.fresh { $0.retries.attempts = 2 }
            #expect(try await client.begin(server.url("/"), options: options).text() == "ok")
            #expect(heads.entries.map(\.status) == [103, 103, 103])
            #expect(heads.entries.map(\.url.path) == ["/", "/there", "/"])
        }

        @Test func `one that is malformed is left out, as nobody needs it`() async throws {
            let server = try LoopbackServer { _ in
                [.send("HTTP/1.1 103 Early\r\nX Y: 1\r\n\r\nHTTP/1.1 103 Early\r\nX: y\r\n\r\n")]
                    + .response(body: "ok")
            }
            defer { server.stop() }
            let heads = Log<ResponseHead>()
            let options = URLClient.RequestOptions(onInterimResponse: { heads.add($0) })
            #expect(try await URLClient.fresh().begin(server.url("/"), options: options).text() == "ok")
            #expect(heads.entries.map { $0.headers["X"] } == ["y"])
        }

        @Test func `the closure has the caller's task-locals, and may use the client and cancel`() async throws {
            enum Local { @TaskLocal static var value = 0 }
            let server = try LoopbackServer { _ in Self.hints + [.stall] }
            defer { server.stop() }
            let client = URLClient.fresh()
            let task = Log<DeferredTask.Task<(Data, ResponseHead)>>()
            let seen = Log<Int>()
            let options = URLClient.RequestOptions(onInterimResponse: { _ in
                seen.add(Local.value)
                task.entries[0].cancel()
            })
            await Local.$value.withValue(7) {
                let running = client.begin(server.url("/"), options: options)
                task.add(running)
                #expect((await running.failure() as? URLError)?.code == .cancelled)
            }
            #expect(seen.entries == [7])
        }

        @Test func `over URLSession the request is refused, with the engine that can`() async throws {
            let options = URLClient.RequestOptions(onInterimResponse: { _ in })
            let client = URLClient.fresh { $0.engine = .urlSession }
            let error = await client.begin(URL(string: "http://127.0.0.1:1/")!, options: options).failure()
            #expect("\(error ?? URLError(.unknown))".contains("libcurl"))
        }
    }
}

extension AsyncStream<Data> {
    fileprivate static func ofOne(_ text: String) -> Self {
        AsyncStream { continuation in
            continuation.yield(Data(text.utf8))
            continuation.finish()
        }
    }
}

extension (any Error)? {
    fileprivate var isInvalid: Bool {
        if case .invalidRequest? = (self as? URLClientError)?.code { true } else { false }
    }
}
