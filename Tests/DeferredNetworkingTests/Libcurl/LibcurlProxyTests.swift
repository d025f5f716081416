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

    /// As curl has it; a proxy gets the whole URL, so that no name has to be looked up.
    @Test(arguments: [
        ("http://bücher.invalid/ä", "xn--bcher-kva.invalid", nil), ("http://FAß.invalid/", "xn--fa-hia.invalid", nil),
        ("http://ａ.invalid/", "a.invalid", nil), ("http://ex%61mple.invalid/", "example.invalid", nil),
        ("http://me:p%40ss@a.invalid/", "a.invalid", "me:p@ss"), ("http://me@a.invalid/", "a.invalid", "me:"),
        ("http://m%3Ae:p@a.invalid/", "a.invalid", "m:e:p"),
    ])
    func `international hosts are sent as ASCII, and users as credentials`(
        text: String,
        host: String,
        credential: String?
    ) async throws {
        let proxy = try LoopbackServer { _ in .response() }
        defer { proxy.stop() }
        let url = try #require(URL(string: text))
        _ = try await Self.client("http://127.0.0.1:\(proxy.port)").begin(url).get()
        let request = try #require(proxy.requests.last)
        #expect(request.headers["Host"] == host && request.target.hasPrefix("http://\(host)/"))
        let expected = credential.map { "Basic " + Data($0.utf8).base64EncodedString() }
        #expect(request.headers["Authorization"] == expected)
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

    @Test func `a proxy for everything is one, whatever the environment says`() async {
        await #expect(processExitsWith: .success) {
            let proxy = try LoopbackServer { _ in .response(body: "by proxy") }
            let server = try LoopbackServer { _ in .response(body: "directly") }
            for name in ["no_proxy", "NO_PROXY"] { setenv(name, "*", 1) }
            let client = try Self.client("http://127.0.0.1:\(proxy.port)")
            let texts = try await (client.begin(server.url("/")).text(), client.begin(server.url("/")).text())
            precondition(texts == ("by proxy", "by proxy") && server.requestCount == 0)
        }
    }

    // MARK: Proxies with TLS

    /// A proxy with TLS that answers requests itself, and the authority of its certificate.
    private static func secureProxy(
        _ change: (inout LoopbackServer.TLS) -> Void = { _ in }
    ) throws -> (server: LoopbackServer, authority: Data) {
        let authority = try LoopbackServer.Authority(name: "The authority of proxies")
        var tls = try LoopbackServer.TLS(authority.issue())
        change(&tls)
        return (try LoopbackServer(tls: tls) { _ in .response(body: "by proxy") }, authority.certificate)
    }

    @Test func `a proxy with TLS is trusted by settings of its own`() async throws {
        let clients = try LoopbackServer.Authority(name: "The authority of clients")
        let (proxy, authority) = try Self.secureProxy { $0.clientAuthority = clients.certificate }
        defer { proxy.stop() }
        let folder = try TemporaryDirectory()
        let identity = try clients.issue(to: ["client"])
        let certificate = try URLClient.TLS.ClientCertificate(
            certificate: folder.write(String(decoding: identity.certificate, as: UTF8.self), to: "certificate"),
            key: folder.write(String(decoding: identity.key, as: UTF8.self), to: "key")
        )
        let url = try #require(URL(string: "http://nowhere.invalid/"))
        let secure = try #require(URL(string: "https://nowhere.invalid/"))
        let file = try folder.write(String(decoding: authority, as: UTF8.self), to: "authority")
        for authorities in [URLClient.TLS.Authorities.data(authority), .file(file)] {
            let client = try Self.client("https://127.0.0.1:\(proxy.port)") {
                $0.proxyTLS.authorities = authorities
                $0.proxyTLS.clientCertificate = certificate
            }
            #expect(try await client.begin(url).text() == "by proxy")
            await client.shutdown().value
        }
        // What is for servers is not for proxies.
        let (count, changes): (Int, [(String, (inout URLClient.Configuration) -> Void)]) = (
            proxy.requestCount,
            [
                ("no authority", { $0.proxyTLS.clientCertificate = certificate }),
                (
                    "a server's authority",
                    {
                        $0.tls.authorities = .data(authority)
                        $0.proxyTLS.clientCertificate = certificate
                    }
                ),
                (
                    "a server's identity",
                    {
                        $0.proxyTLS.authorities = .data(authority)
                        $0.tls.clientCertificate = certificate
                        $0.proxyTLS.minimumVersion = .v1_2
                    }
                ),
                (
                    "a stranger's pin",
                    {
                        $0.proxyTLS.authorities = .data(authority)
                        $0.proxyTLS.clientCertificate = certificate
                        $0.proxyTLS.pinnedPublicKeys = [Data(count: 32)]
                    }
                ),
            ]
        )
        for (name, change) in changes {
            let client = try Self.client("https://127.0.0.1:\(proxy.port)", change)
            for url in [url, secure] {
                let error = try #require(await client.begin(url).failure() as? URLError)
                // With TLS 1.3, the refusal of a certificate comes after the handshake.
                let isNamed = error.localizedDescription.contains("proxy 127.0.0.1:\(proxy.port)")
                #expect(isNamed || name == "a server's identity", "\(name): \(error.summary)")
                #expect(error.failingURL == url, "\(name)")
            }
            await client.shutdown().value
        }
        #expect(proxy.requestCount == count)
    }

    @Test func `a server that isn't trusted is not taken for the proxy`() async throws {
        let authority = try LoopbackServer.Authority()
        let server = try LoopbackServer(tls: .init(authority.issue())) { _ in .response(body: "hello") }
        defer { server.stop() }
        let proxy = try TunnelPort()
        let client = try Self.client("http://127.0.0.1:\(proxy.number)")
        let error = try #require(await client.begin(server.url("/")).failure() as? URLError)
        #expect(error.code == .serverCertificateUntrusted && !error.localizedDescription.contains("proxy"))
    }

    // MARK: Failures

    @Test(arguments: [
        "ftp://me:s3cret@127.0.0.1:3128", "http://me:s3cret@127.0.0.1:99999", "http://me:s3cret@127.0.0.1:0",
        "me:s3cret@127.0.0.1:3128", "http:me:s3cret@127.0.0.1", "http://me:s3cret@", "//me:s3cret@127.0.0.1",
        "me://s3cret@127.0.0.1", "http://me:s3cret%00@127.0.0.1:3128", "socks5://me%1f:s3cret@127.0.0.1:3128",
    ])
    func `a proxy that is none is refused, without its password`(text: String) async throws {
        let (texts, url) = (Log<String>(), try #require(URL(string: text)))
        let client = try Self.client(text) { $0.monitor = { texts.add("\($0)") } }
        let error = await client.begin(try #require(URL(string: "http://127.0.0.1:1/"))).failure()
        guard let error = error as? URLClientError, case .engineUnavailable(let reason) = error.code else {
            Issue.record("\(String(describing: error))")
            return
        }
        #expect(reason.contains("proxy") && reason.contains("use a URL such as"))
        for text in texts.entries + ["\(error)", error.localizedDescription, "\(URLClient.Proxy.server(url))"] {
            #expect(!text.contains("s3cret"), "\(text)")
        }
    }

    @Test func `a proxy that libcurl would pass over is refused, also that of the environment`() throws {
        let long = try #require(URL(string: "http://me:" + String(repeating: "s", count: 64 << 10) + "@127.0.0.1:3128"))
        var configuration = URLClient.Configuration()
        configuration.proxy = .server(long)
        #expect(throws: URLClientError.self) { try LibcurlOptions(configuration) }
        let texts = LibcurlRoute(.environment, environment: ["http_proxy": "me:s%0a@a.test", "https_proxy": "b.test"])
        #expect(texts.proxies == ["me:s%0a@a.test", "b.test"])
    }

    @Test func `the password of a proxy in the environment is in no text`() async {
        await #expect(processExitsWith: .success) {
            let long = String(repeating: "s3cret", count: 50)
            for (user, engine) in ["me:a s3cret", "me:a/s3cret", "me:a#s3cret", "me:'s3cret", "me:\(long) "].flatMap({
                [($0, URLClient.Configuration.Engine.libcurl), ($0, .urlSession)]
            }) {
                setenv("http_proxy", "http://\(user)@127.0.0.1:3128", 1)
                let texts = Log<String>()
                let client = URLClient.fresh {
                    $0.engine = engine
                    $0.monitor = { texts.add("\($0)") }
                }
                let url = try #require(URL(string: "http://nowhere.invalid/"))
                let error = try #require(await client.begin(url).failure())
                texts.add("\(error) \(error.localizedDescription) \((error as NSError).userInfo)")
                for text in texts.entries { precondition(!text.contains("s3cret"), "\(engine): \(text)") }
                await client.shutdown().value
            }
        }
    }

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
        let (error, port) = try await Self.failure(of: .response(status, body: "no"))
        #expect(error?.code == .cannotConnectToHost)
        let text = error?.localizedDescription ?? ""
        #expect(text.contains("127.0.0.1:\(port)") && text.contains("status \(status)"), "\(text)")
    }

    @Test(arguments: [(407, 1), (403, 1), (404, 1), (502, 2), (503, 2), (504, 2)])
    func `a proxy that refuses to connect is asked again only if that may help`(status: Int, count: Int) async throws {
        let proxy = try LoopbackServer { _ in .response(status) }
        defer { proxy.stop() }
        let url = try #require(URL(string: "https://nowhere.invalid/"))
        let client = try Self.client("http://me:wrong@127.0.0.1:\(proxy.port)") {
            $0.retries.attempts = 2
            $0.retries.base = .zero
        }
        #expect(await client.begin(url).ending() == .url(.cannotConnectToHost))
        #expect(proxy.requestCount == count)
        await client.shutdown().value
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
        let proxy = try LoopbackServer { $0.method == "CONNECT" ? .response(403) : [.close] }
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
        let failure = await client.begin(server.url("/")).failure()
        guard case .truncatedBody(_, 1_000_000) = (failure as? URLClientError)?.code else {
            Issue.record("\(String(describing: failure))")
            return
        }
    }
}
#endif
