import DeferredHTTP
import DeferredTask
import DeferredTesting
import Foundation
import TestSupport
import Testing

#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

/// What the conformance suite of the proposal for a common HTTP client asks of each client: `.github/CONFORMANCE.md` names
/// its cases, and the tests here.
///
/// The suites are serialized: those behind a proxy share its port.
@Suite("Conformance", .serialized, .ownThreadInSeries, .timeLimit(.minutes(2)))
enum ConformanceTests {
    @Test static func `the table names each case once, and tests that exist`() throws {
        let folder = URL(filePath: #filePath).deletingLastPathComponent()
        let files = try FileManager.default.contentsOfDirectory(at: folder, includingPropertiesForKeys: nil)
        let code = try files.map { try String(contentsOf: $0, encoding: .utf8) }.joined()
        let table = try String(contentsOf: folder.appending(path: "../../../.github/CONFORMANCE.md"), encoding: .utf8)
        let rows = table.components(separatedBy: "\n").filter { $0.hasPrefix("| `") }
            .map { $0.split(separator: "|").map { $0.trimmingCharacters(in: .whitespaces) } }
        #expect(rows.count == 39 && Set(rows.map { $0[0] }).count == 39)
        for row in rows where !code.contains("func `\(row[2])`(") { Issue.record("no test \(row[2])") }
    }

    @Test(.enabled(if: isLibcurlTested), arguments: ConformanceServer.Route.available)
    static func `each route has its version of HTTP`(route: ConformanceServer.Route) async throws {
        let server = try ConformanceServer(route) { _ in .response(200) }
        defer { server.stop() }
        let head = try await server.client().begin(server.url()).get().1
        #expect(head.version == (route == .direct ? "HTTP/1.1" : "HTTP/2"))
    }
}

/// The server of one test, and the way to it.
struct ConformanceServer {
    /// The way between a client and the server.
    enum Route: String, CaseIterable, CustomTestStringConvertible {
        /// HTTP/1.1.
        case direct

        /// Through a proxy, with HTTP/2 over TLS for what the client doesn't send with HTTP/1.1.
        case secure

        /// Through a proxy, with HTTP/2 and nothing else.
        case priorKnowledge

        private static let environment = ProcessInfo.processInfo.environment

        /// The port that the proxy of `Tests/RealServers/run` connects to.
        static let port = environment["DEFERRED_CONFORMANCE_PORT"].flatMap { UInt16($0) }

        /// The address of the proxy.
        var proxy: String? {
            switch self {
            case .direct: nil
            case .secure: Self.environment["DEFERRED_CONFORMANCE_SECURE"]
            case .priorKnowledge: Self.environment["DEFERRED_CONFORMANCE_CLEAR"]
            }
        }

        static let available = allCases.filter { $0 == .direct || isLibcurlTested && port != nil && $0.proxy != nil }

        /// Those on which a response can begin before the request's body has ended. libcurl 7.88 and 8.0 lose it over HTTP/2,
        /// so that clients use HTTP/1.1 where they may.
        static let duplex = available.filter { $0 != .priorKnowledge || !isResponseLost }

        private static let isResponseLost = ["libcurl 7.88", "libcurl 8.0"].contains {
            URLClient().engine.hasPrefix($0)
        }

        var testDescription: String { rawValue }
    }

    let route: Route
    let server: LoopbackServer

    init(
        _ route: Route,
        beforeBody: (@Sendable (LoopbackServer.Request) -> LoopbackServer.Script?)? = nil,
        respond: @escaping @Sendable (LoopbackServer.Request) -> LoopbackServer.Script
    ) throws {
        self.route = route
        let port = route == .direct ? 0 : Route.port ?? 0
        server = try LoopbackServer(port: port, beforeBody: beforeBody, respond: respond)
    }

    func url(_ path: String = "/") throws -> URL {
        try route.proxy.map { try #require(URL(string: $0 + path)) } ?? server.url(path)
    }

    /// Returns a client that makes one attempt, and for which each status is a response.
    func client(_ change: (inout URLClient.Configuration) -> Void = { _ in }) -> URLClient {
        var configuration = URLClient.Configuration()
        configuration.retries = .none
        configuration.validation = .any
        if !isLibcurlTested { configuration.engine = .urlSession }
        if route == .priorKnowledge { configuration.httpVersion = .http2 }
        if route == .secure, let file = ProcessInfo.processInfo.environment["DEFERRED_NGINX_CA"] {
            configuration.tls.authorities = .file(URL(filePath: file))
        }
        change(&configuration)
        return URLClient(configuration: configuration)
    }

    func stop() { server.stop() }
}

extension Task<(Data, ResponseHead)> {
    /// Returns the status, and the body as text.
    func answer() async throws -> (status: HTTPStatus, text: String) {
        let (body, head) = try await get()
        return (head.status, String(decoding: body, as: UTF8.self))
    }
}

extension HTTPBody {
    /// Returns the pieces as a sequence.
    static func sequence(_ pieces: [Data]) -> AsyncStream<Data> {
        AsyncStream { continuation in
            for piece in pieces { continuation.yield(piece) }
            continuation.finish()
        }
    }
}
