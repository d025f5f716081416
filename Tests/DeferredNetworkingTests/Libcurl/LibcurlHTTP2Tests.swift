#if os(Linux)
import DeferredCore
import DeferredTask
import Foundation
import FoundationNetworking
import TestSupport
import Testing

@testable import DeferredNetworking

/// Tests of what servers say over HTTP/2 and can't say over HTTP/1.1.
@Suite("Libcurl: HTTP/2", .ownThread, .timeLimit(.minutes(1)))
struct LibcurlHTTP2Tests {
    private typealias Frame = FrameServer.Frame

    private static func client(attempts: Int = 3) -> URLClient {
        URLClient.fresh {
            $0.engine = .libcurl
            $0.httpVersion = .http2
            $0.retries.attempts = attempts
            $0.retries.base = .zero
        }
    }

    private static func request(_ method: String, _ server: FrameServer, size: Int = 0) -> URLRequest {
        URLRequest(server.url) {
            $0.httpMethod = method
            if size > 0 { $0.httpBody = Data(count: size) }
        }
    }

    // MARK: Requests that were not processed

    /// The two ways in which a server says that it has not processed a request: RFC 9113, section 8.7.
    private static let refusals: [Frame] = [.goAway(last: 0), .reset(code: 7)]

    /// True since 7.88: libcurl tells which streams the server won't process when it closes the connection to new ones.
    private static let tellsOfGoAway = LibcurlEngine.versionNumber >= 0x07_58_00

    @Test(arguments: ["GET", "PUT", "POST", "PATCH"], [0, 1])
    func `a request that the server has not processed is sent again, whatever its method`(
        method: String,
        refusal: Int
    ) async throws {
        let server = try FrameServer { request in
            guard request.connection > 1 else { return request.hasEnded ? [Self.refusals[refusal]] : [] }
            return request.hasEnded ? [.headers(200), .data("good")] : []
        }
        let client = Self.client()
        let request = Self.request(method, server, size: method == "GET" ? 0 : 20)
        guard refusal > 0 || Self.tellsOfGoAway || ["GET", "PUT"].contains(method) else {
            #expect(await client.begin(request).ending() == .url(.networkConnectionLost))
            #expect(server.requests.entries.count == 1)
            return await client.shutdown().value
        }
        #expect(try await client.begin(request).text() == "good")
        #expect(server.requests.entries.count == 2)
        await client.shutdown().value
    }

    @Test(.enabled(if: tellsOfGoAway))
    func `it is sent no more often than the policy allows`() async throws {
        let server = try FrameServer { _ in [.goAway(last: 0)] }
        for attempts in 1...3 {
            let before = server.requests.entries.count
            let client = Self.client(attempts: attempts)
            let error = await client.begin(Self.request("POST", server)).failure() as? URLError
            #expect(error?.code == .networkConnectionLost && FailureCause(of: error) == .notProcessed)
            #expect(server.requests.entries.count == before + attempts)
            await client.shutdown().value
        }
    }

    @Test func `a body that can be read once is not sent again`() async throws {
        let server = try FrameServer { request in request.hasEnded ? [.goAway(last: 0)] : [] }
        let client = Self.client()
        let request = URLRequest(server.url) {
            $0.httpMethod = "PUT"
            $0.httpBodyStream = InputStream(data: Data(count: 20))
        }
        #expect(await client.begin(request).ending() == .url(.networkConnectionLost))
        #expect(server.requests.entries.count == 1)
        await client.shutdown().value
    }

    @Test func `a request that the server still processes is not sent again`() async throws {
        let server = try FrameServer { request in
            guard request.hasEnded else { return [] }
            return request.connection == 1 ? [.goAway(last: 1), .close] : [.headers(200), .data("twice")]
        }
        let client = Self.client()
        #expect(await client.begin(Self.request("POST", server)).ending() == .url(.networkConnectionLost))
        #expect(server.requests.entries.count == 1)
        await client.shutdown().value
    }

    @Test func `its response is delivered`() async throws {
        let server = try FrameServer { request in
            request.hasEnded ? [.goAway(last: 1), .pause, .headers(200), .data("good")] : []
        }
        let client = Self.client()
        #expect(try await client.begin(Self.request("POST", server)).text() == "good")
        #expect(server.requests.entries.count == 1)
        await client.shutdown().value
    }

    // MARK: Responses that come before the body has ended

    /// The responses of a server that needs no more of a body, in one packet and in several.
    private static let early: [[Frame]] = [
        [.headers(413), .data("too large"), .reset(code: 0)],
        [.headers(413), .data("too large"), .pause, .reset(code: 0)],
        [.headers(413), .pause, .data("too large"), .pause, .reset(code: 0)],
        [.headers(413, ["content-length": "9"]), .pause, .data("too large"), .pause, .reset(code: 0)],
    ]

    @Test(arguments: early.indices, ["PUT", "POST"])
    func `a response before the end of an upload is delivered, and nothing is sent again`(
        kind: Int,
        method: String
    ) async throws {
        let server = try FrameServer { request in request.hasEnded ? [] : Self.early[kind] }
        let client = Self.client()
        let error = await client.begin(Self.request(method, server, size: 2_000_000)).failure() as? URLClientError
        guard case .unacceptableStatus(413, let body) = error?.code else {
            Issue.record("\(String(describing: error))")
            return
        }
        // libcurl 7.88 keeps none of it, if it reads the packets at once.
        let isLost = body.isEmpty && LibcurlOptions.losesEarlyResponses
        #expect(String(decoding: body, as: UTF8.self) == "too large" || isLost)
        #expect(server.requests.entries.count == 1)
        await client.shutdown().value
    }

    @Test func `a part of a response is none`() async throws {
        for frames: [Frame] in [
            [.headers(200, ["content-length": "9"]), .pause, .data("half", ends: false), .pause, .reset(code: 0)],
            [.headers(200, ["content-length": "9"]), .data("half", ends: false), .reset(code: 0)],
            [.headers(200), .pause, .data("half", ends: false), .pause, .reset(code: 2)],
        ] {
            let server = try FrameServer { request in request.hasEnded ? [] : frames }
            let client = Self.client(attempts: 1)
            #expect(await client.begin(Self.request("POST", server, size: 2_000_000)).failure() != nil)
            await client.shutdown().value
        }
    }

    @Test(.enabled(if: LibcurlOptions.losesEarlyResponses))
    func `a success that libcurl loses is an error that names it, and nothing is sent again`() async throws {
        let server = try FrameServer { request in
            request.hasEnded ? [] : [.headers(201), .data("done"), .reset(code: 0)]
        }
        let client = Self.client()
        let error = await client.begin(Self.request("PUT", server, size: 2_000_000)).failure() as? URLError
        #expect(error?.code == .badServerResponse && error?.localizedDescription.contains("201") == true)
        #expect(server.requests.entries.count == 1)
        await client.shutdown().value
    }

    @Test func `trailers and interim responses come over HTTP/2, too`() async throws {
        let server = try FrameServer { request in
            guard request.hasEnded else { return [] }
            return [
                .headers(103, ["link": "</a>; rel=preload"]), .headers(200, ["x-head": "1"]), .data("abc", ends: false),
                .trailers(["x-sum": "abc", "set-cookie": "a=b"]),
            ]
        }
        let client = Self.client(attempts: 1)
        let heads = Log<ResponseHead>()
        let options = URLClient.RequestOptions(onInterimResponse: { heads.add($0) })
        let (data, head) = try await client.begin(server.url, options: options).get()
        #expect(data == Data("abc".utf8) && head.headers["x-head"] == "1" && head.trailers == ["x-sum": "abc"])
        #expect(heads.entries.map(\.status) == [103] && heads.entries.first?.links.first?.url.path == "/a")
        let response = try await client.stream(server.url).get()
        #expect(try await response.body.collect() == Data("abc".utf8) && response.body.trailers == ["x-sum": "abc"])
        await client.shutdown().value
    }

    // MARK: Prior knowledge

    @Test func `a limit of the rate holds over HTTP/2, too`() async throws {
        let piece = String(repeating: "x", count: 10_000)
        let server = try FrameServer { request in
            guard request.hasEnded else { return [] }
            return [.headers(200)] + (1...4).map { .data(piece, ends: $0 == 4) }
        }
        let client = Self.client()
        let start = ContinuousClock.now
        let (data, head) = try await client.begin(server.url, options: .init(rateLimit: 100_000)).get()
        #expect(data == Data(String(repeating: piece, count: 4).utf8) && head.version == "HTTP/2")
        #expect(.now - start > .milliseconds(350))
        await client.shutdown().value
    }

    @Test func `one request after the other, and many at once, succeed by prior knowledge`() async throws {
        let server = try FrameServer { request in
            request.hasEnded ? [.headers(200), .data("\(request.connection).\(request.stream)")] : []
        }
        let client = Self.client(attempts: 1)
        for _ in 1...3 { _ = try await client.begin(server.url).get() }
        let tasks = (1...20).map { _ in client.begin(Self.request("POST", server, size: 1_000)) }
        for task in tasks { _ = try await task.get() }
        #expect(server.requests.entries.count == 23)
        let isAlone = server.requests.entries.allSatisfy { $0.stream == 1 }
        #expect(isAlone != LibcurlOptions.canReuseByPriorKnowledge)
        await client.shutdown().value
    }
}

@Suite("LibcurlReport", .ownThread, .timeLimit(.minutes(1)))
struct LibcurlReportTests {
    private func report(_ text: String) -> LibcurlReport? {
        Array(text.utf8).withUnsafeBytes { LibcurlReport($0) }
    }

    @Test func `the texts of all versions are understood`() {
        let rows: [(String, LibcurlReport?)] = [
            ("Using Stream ID: 13 (easy handle 0x55)\n", .stream(13)), ("Using Stream ID: 5\n", .stream(5)),
            ("[HTTP/2] [7] OPENED stream for https://localhost/\n", .stream(7)),
            ("[HTTP/2] [7] [:path: /] OPENED]\n", nil), ("[HTTP/2] Warning: too long\n", nil),
            ("recveived GOAWAY, error=0, last_stream=1999\n", .goneAway(last: 1_999)),
            ("received GOAWAY, error=11, last_stream=0", .goneAway(last: 0)), ("received something\n", nil),
            ("REFUSED_STREAM, retrying a fresh connect\n", .refused),
            ("Re-using existing connection #0 with host localhost\n", nil), ("Using HTTP2, server supports it\n", nil),
            ("TLSv1.3 (IN), TLS alert, unknown (628):\n", .alert(116)),
            ("TLSv1.2 (IN), TLS alert, close notify (256):\n", .alert(0)),
            ("TLSv1.3 (OUT), TLS alert, unknown CA (560):\n", nil), ("", nil),
        ]
        for (text, expected) in rows { #expect(report(text) == expected, "\(text)") }
    }
}
#endif
