#if os(Linux)
import DeferredCore
import DeferredTask
import DeferredTesting
import Foundation
import FoundationNetworking
import TestSupport
import Testing

@testable import DeferredNetworking

/// Tests of what a proxy gets, what a server behind it gets, and of proxies that fail.
@Suite("Libcurl: proxies", .ownThread, .timeLimit(.minutes(1)))
struct LibcurlProxyTests {
    private static let names = ["Authorization", "Cookie", "Proxy-Authorization"]

    /// A request with a secret for the server and one for the proxy.
    private static func request(_ url: URL) -> URLRequest {
        URLRequest(url) {
            $0.setValue("server's", forHTTPHeaderField: "Authorization")
            $0.setValue("a=1", forHTTPHeaderField: "Cookie")
            $0.setValue("proxy's", forHTTPHeaderField: "Proxy-Authorization")
        }
    }

    private static func secrets(in request: LoopbackServer.Request?) -> [String?] { names.map { request?.headers[$0] } }

    private static func client(
        _ proxy: String,
        _ change: (inout URLClient.Configuration) -> Void = { _ in }
    ) throws -> URLClient {
        let url = try #require(URL(string: proxy))
        return URLClient.fresh {
            $0.engine = .libcurl
            $0.proxy = .server(url)
            change(&$0)
        }
    }

    @Test func `a proxy gets the requests`() async throws {
        let proxy = try LoopbackServer { .response(body: .text("\($0.method) by proxy")) }
        defer { proxy.stop() }
        let url = try #require(URL(string: "http://nowhere.invalid/"))
        #expect(try await Self.client("http://127.0.0.1:\(proxy.port)").begin(url).text() == "GET by proxy")
    }

    @Test func `through a tunnel, the server gets what is its own, and so does the proxy`() async throws {
        let authority = try LoopbackServer.Authority()
        let server = try LoopbackServer(tls: .init(authority.issue())) { _ in .response(body: "hello") }
        defer { server.stop() }
        let proxy = try TunnelPort()
        func client(_ user: String) throws -> URLClient {
            try Self.client("http://\(user)127.0.0.1:\(proxy.number)") {
                $0.tls.authorities = .data(authority.certificate)
            }
        }
        #expect(try await client("").begin(Self.request(server.url("/"))).text() == "hello")
        #expect(Self.secrets(in: server.requests.last) == ["server's", "a=1", nil])
        let head = proxy.heads.entries.last ?? ""
        #expect(head.contains("Proxy-Authorization: proxy's"))
        #expect(!head.contains("server's") && !head.contains("a=1"))
        #expect(try await client("me:p%40ss@").begin(server.url("/")).text() == "hello")
        #expect(Self.secrets(in: server.requests.last) == [nil, nil, nil])
        let credential = Data("me:p@ss".utf8).base64EncodedString()
        #expect(proxy.heads.entries.last?.contains("Proxy-Authorization: Basic \(credential)") == true)
    }

    @Test func `a request's credential for a proxy goes to no server`() async throws {
        let server = try LoopbackServer { _ in .response(body: "hello") }
        let proxy = try LoopbackServer { _ in .response(body: "hello") }
        defer {
            server.stop()
            proxy.stop()
        }
        _ = try await URLClient.fresh { $0.engine = .libcurl }.begin(Self.request(server.url("/"))).get()
        #expect(Self.secrets(in: server.requests.last) == ["server's", "a=1", nil])
        let client = try Self.client("http://127.0.0.1:\(proxy.port)")
        for request in [Self.request(server.url("/")), URLRequest(url: server.url("/"))] {
            _ = try await client.begin(request).get()
        }
        #expect(proxy.requests.map { $0.headers["Proxy-Authorization"] } == ["proxy's", nil])
    }

    @Test func `the environment's credential for a proxy goes to no server that needs no proxy`() async {
        await #expect(processExitsWith: .success) {
            let (proxy, server) = (try LoopbackServer { _ in .response() }, try LoopbackServer { _ in .response() })
            setenv("http_proxy", "http://me:secret@127.0.0.1:\(proxy.port)", 1)
            setenv("no_proxy", "127.0.0.1", 1)
            let far = try #require(URL(string: "http://nowhere.invalid/"))
            let client = URLClient.fresh { $0.engine = .libcurl }
            for url in [far, server.url("/"), far, server.url("/")] { _ = try await client.begin(url).get() }
            _ = try await URLSession.fresh().beginDataTask(with: server.url("/")).get()
            precondition(proxy.requests.count { $0.headers["Proxy-Authorization"] != nil } == 2)
            precondition(server.requests.count == 3)
            precondition(server.requests.allSatisfy { $0.headers["Proxy-Authorization"] == nil })
        }
    }

    // MARK: Failures

    private static func failure(
        of proxy: LoopbackServer.Script,
        _ change: @escaping (inout URLClient.Configuration) -> Void = { _ in }
    ) async throws -> (error: URLError?, port: UInt16) {
        let proxy = try LoopbackServer { _ in proxy }
        defer { proxy.stop() }
        let url = try #require(URL(string: "https://nowhere.invalid/"))
        let error = try await Self.client("http://127.0.0.1:\(proxy.port)", change).begin(url).failure()
        #expect((error as? URLError)?.failingURL == url)
        return (error as? URLError, proxy.port)
    }

    @Test(arguments: [403, 407, 502])
    func `a proxy that refuses to connect is named, with its status`(status: Int) async throws {
        let (error, port) = try await Self.failure(of: .response(status: status, body: "no"))
        #expect(error?.code == .cannotConnectToHost)
        let text = error?.localizedDescription ?? ""
        #expect(text.contains("127.0.0.1:\(port)") && text.contains("status \(status)"), "\(text)")
    }

    @Test func `a proxy that answers with garbage, or not at all, fails the request`() async throws {
        #expect(try await Self.failure(of: .raw("\u{1}garbage\r\n\r\n")).error?.code == .badServerResponse)
        #expect(try await Self.failure(of: [.close]).error?.code == .networkConnectionLost)
        let cut = LoopbackServer.Script.raw("HTTP/1.1 200 OK\r\nA: b\r\n") + [.close]
        #expect(try await Self.failure(of: cut).error?.code == .networkConnectionLost)
        let silent = try await Self.failure(of: [.stall]) { $0.deadlines.idle = .milliseconds(100) }
        #expect(silent.error?.code == .timedOut)
        let noServer = LoopbackServer.Script.raw("HTTP/1.1 200 OK\r\n\r\nHTTP/1.1 200 OK\r\n\r\n") + [.stall]
        #expect(try await Self.failure(of: noServer).error?.code == .secureConnectionFailed)
    }

    @Test func `a refusal is told once, not with the next failure on its handle`() async throws {
        let proxy = try LoopbackServer { $0.method == "CONNECT" ? .status(403) : [.close] }
        defer { proxy.stop() }
        let client = try Self.client("http://127.0.0.1:\(proxy.port)")
        let (secure, plain) = (URL(string: "https://nowhere.invalid/"), URL(string: "http://nowhere.invalid/"))
        #expect(await client.begin(try #require(secure)).ending() == .url(.cannotConnectToHost))
        #expect(await client.begin(try #require(plain)).ending() == .url(.networkConnectionLost))
    }

    @Test func `a body that a proxy cuts is incomplete`() async throws {
        let authority = try LoopbackServer.Authority()
        let server = try LoopbackServer(tls: .init(authority.issue())) { _ in
            .response(body: .pattern(count: 1_000_000))
        }
        defer { server.stop() }
        let proxy = try TunnelPort(cutsAfter: 100_000)
        let client = try Self.client("http://127.0.0.1:\(proxy.number)") {
            $0.tls.authorities = .data(authority.certificate)
        }
        let error = await client.begin(server.url("/")).failure() as? URLClientError
        guard case .truncatedBody(_, 1_000_000) = error?.code else {
            Issue.record("\(String(describing: error))")
            return
        }
    }
}
#endif
