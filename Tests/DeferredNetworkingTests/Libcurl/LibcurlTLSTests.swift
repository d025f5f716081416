#if os(Linux)
import DeferredCore
import DeferredTask
import DeferredTesting
import Foundation
import FoundationNetworking
import TestSupport
import Testing

@testable import DeferredNetworking

private let hasTLS = LoopbackServer.canDoTLS

/// Tests of `Configuration.tls` and `unixSocketPath` with a local server whose certificates come from a test authority.
@Suite("TLS over libcurl", .serialized, .ownThreadInSeries, .timeLimit(.minutes(2)), .enabled(if: hasTLS))
struct LibcurlTLSTests {
    private let authority: LoopbackServer.Authority
    private let certificate: LoopbackServer.Certificate
    private let folder: TemporaryDirectory

    init() throws {
        authority = try LoopbackServer.Authority(name: "The authority")
        certificate = try authority.issue()
        folder = try TemporaryDirectory()
    }

    private func server(_ change: (inout LoopbackServer.TLS) -> Void = { _ in }) throws -> LoopbackServer {
        var tls = LoopbackServer.TLS(certificate)
        change(&tls)
        return try LoopbackServer(tls: tls) { .response(body: .text("\($0.method) \($0.body.count)")) }
    }

    /// Returns the result of a request by a client that trusts the authority.
    private func ending(
        at server: LoopbackServer,
        _ change: (inout URLClient.TLS) -> Void = { _ in }
    ) async -> Ending {
        var tls = URLClient.TLS()
        tls.authorities = .data(authority.certificate)
        change(&tls)
        let client = URLClient.fresh { [tls] in
            $0.engine = .libcurl
            $0.tls = tls
        }
        let ending = await client.begin(server.url("/")).ending()
        await client.shutdown().value
        return ending
    }

    private func write(_ data: Data, _ name: String) throws -> URL {
        let file = folder.url.appending(path: name)
        try data.write(to: file)
        return file
    }

    @Test(arguments: [URLClient.TLS.Version.v1_2, .v1_3])
    func `what comes in one record with a response is not the next one`(
        version: URLClient.TLS.Version
    ) async throws {
        let evil = "HTTP/1.1 200 OK\r\nContent-Length: 4\r\n\r\nEVIL"
        var tls = LoopbackServer.TLS(certificate)
        tls.maximumVersion = version
        let server = try LoopbackServer(tls: tls) { request in
            if request.path != "/surplus" { return .response(body: "good") }
            return [
                .send("HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nfi"), .pause(.milliseconds(10)),
                .send(.text("rst" + evil)),
            ]
        }
        defer { server.stop() }
        let client = URLClient.fresh {
            $0.engine = .libcurl
            $0.tls.authorities = .data(authority.certificate)
        }
        for count in 1...5 {
            #expect(try await client.begin(server.url("/surplus")).text() == "first")
            // A POST, too: nothing of it was sent on the connection that is closed.
            let next = URLRequest(server.url("/")) { $0.httpMethod = count % 2 == 0 ? "POST" : "GET" }
            #expect(try await client.begin(next).text() == "good")
            #expect(server.connectionCount == count + 1)
        }
        await client.shutdown().value
    }

    // MARK: Trusting servers

    @Test func `a server is trusted if its certificate comes from one of the authorities`() async throws {
        let server = try server()
        defer { server.stop() }
        let other = try LoopbackServer.Authority(name: "Another authority")
        let file = try write(authority.certificate, "authority.pem")
        let both = try write(other.certificate + authority.certificate, "both.pem")
        #expect(await ending(at: server) == .status(200))
        #expect(await ending(at: server) { $0.authorities = .file(file) } == .status(200))
        #expect(await ending(at: server) { $0.authorities = .file(both) } == .status(200))
        #expect(await ending(at: server) { $0.authorities = .system } == .url(.serverCertificateUntrusted))
        #expect(
            await ending(at: server) { $0.authorities = .data(other.certificate) } == .url(.serverCertificateUntrusted)
        )
        #expect(server.requestCount == 3)
    }

    @Test func `authorities that can't be read fail the request`() async throws {
        let server = try server()
        defer { server.stop() }
        let missing = folder.url.appending(path: "missing.pem")
        let nonsense = try write(Data("nonsense".utf8), "nonsense.pem")
        for authorities in [URLClient.TLS.Authorities.file(missing), .file(nonsense), .data(Data("nonsense".utf8))] {
            let ending = await ending(at: server) { $0.authorities = authorities }
            #expect(ending == .url(.secureConnectionFailed) || ending == .url(.serverCertificateUntrusted))
        }
        #expect(server.requestCount == 0)
    }

    @Test func `a certificate that has expired, or is another host's, is not trusted`() async throws {
        let expired = try authority.issue(lifetime: .seconds(-60))
        let stranger = try authority.issue(to: ["example.com"])
        let old = try server { $0.certificate = expired }
        let other = try server { $0.certificate = stranger }
        defer {
            old.stop()
            other.stop()
        }
        #expect(await ending(at: old) == .url(.serverCertificateHasBadDate))
        #expect(await ending(at: other) == .url(.serverCertificateUntrusted))
        #expect(old.requestCount + other.requestCount == 0)
    }

    @Test func `a wildcard stands for one label`() async throws {
        let wildcard = try authority.issue(to: ["*.example.localhost"])
        let server = try server { $0.certificate = wildcard }
        defer { server.stop() }
        let client = client()
        for (host, expected) in [
            ("a.example.localhost", Ending.status(200)), ("A.example.localhost", .status(200)),
            ("b.a.example.localhost", .url(.serverCertificateUntrusted)),
            ("example.localhost", .url(.serverCertificateUntrusted)),
        ] {
            let url = try #require(URL(string: "https://\(host):\(server.port)/"))
            #expect(await client.begin(url).ending() == expected, "\(host)")
        }
        await client.shutdown().value
    }

    @Test func `of pinned keys, one has to be the server's`() async throws {
        let server = try server()
        defer { server.stop() }
        let stranger = try authority.issue().publicKeyDigest
        #expect(await ending(at: server) { $0.pinnedPublicKeys = [certificate.publicKeyDigest] } == .status(200))
        #expect(
            await ending(at: server) { $0.pinnedPublicKeys = [stranger, certificate.publicKeyDigest] } == .status(200)
        )
        #expect(await ending(at: server) { $0.pinnedPublicKeys = [stranger] } == .url(.serverCertificateUntrusted))
        // A pin doesn't make up for an authority.
        #expect(
            await ending(at: server) {
                $0.pinnedPublicKeys = [certificate.publicKeyDigest]
                $0.authorities = .system
            } == .url(.serverCertificateUntrusted)
        )
    }

    @Test func `a server that speaks no version that is new enough is refused`() async throws {
        let old = try server { $0.maximumVersion = .v1_2 }
        let new = try server { $0.maximumVersion = .v1_3 }
        defer {
            old.stop()
            new.stop()
        }
        for server in [old, new] {
            #expect(await ending(at: server) { $0.minimumVersion = .v1_2 } == .status(200))
        }
        #expect(await ending(at: new) { $0.minimumVersion = .v1_3 } == .status(200))
        #expect(await ending(at: old) { $0.minimumVersion = .v1_3 } == .url(.secureConnectionFailed))
    }

    // MARK: Client certificates

    @Test(arguments: [URLClient.TLS.Version.v1_2, .v1_3])
    func `a server that asks for a certificate lets in those that have one`(
        version: URLClient.TLS.Version
    ) async throws {
        let clients = try LoopbackServer.Authority(name: "The authority of clients")
        let server = try server {
            $0.clientAuthority = clients.certificate
            $0.maximumVersion = version
        }
        defer { server.stop() }
        func identity(_ issuer: LoopbackServer.Authority, _ name: String) throws -> URLClient.TLS.ClientCertificate {
            let identity = try issuer.issue(to: [name])
            return try .init(
                certificate: write(identity.certificate, name + ".pem"),
                key: write(identity.key, name + ".key")
            )
        }
        let friend = try identity(clients, "friend")
        let stranger = try identity(authority, "stranger")
        #expect(await ending(at: server) { $0.clientCertificate = friend } == .status(200))
        // Before TLS 1.3, a server doesn't say what it misses.
        let missed = version == .v1_2 ? URLError.secureConnectionFailed : .clientCertificateRequired
        #expect(await ending(at: server) == .url(missed))
        #expect(await ending(at: server) { $0.clientCertificate = stranger } == .url(.clientCertificateRejected))
        let mixed = URLClient.TLS.ClientCertificate(certificate: friend.certificate, key: stranger.key)
        let missing = URLClient.TLS.ClientCertificate(certificate: friend.certificate, key: folder.file)
        for identity in [mixed, missing] {
            #expect(await ending(at: server) { $0.clientCertificate = identity } == .url(.clientCertificateRejected))
        }
        #expect(server.requestCount == 1)
    }

    @Test(arguments: EncryptedKey.all)
    func `a key whose password is missing is refused, and nobody is asked for it`(key: String) async {
        await #expect(processExitsWith: .success) { [key] in
            let folder = try TemporaryDirectory()
            let authority = try LoopbackServer.Authority()
            var tls = try LoopbackServer.TLS(authority.issue())
            tls.clientAuthority = Data(EncryptedKey.certificate.utf8)
            let server = try LoopbackServer(tls: tls) { _ in .response() }
            let certificate = try folder.write(EncryptedKey.certificate, to: "certificate")
            let keyFile = try folder.write(key, to: "key")
            // Without a terminal, OpenSSL asks the standard input.
            setsid()
            var pipe: [Int32] = [0, 0]
            precondition(Foundation.pipe(&pipe) == 0 && dup2(pipe[0], 0) == 0)
            precondition(Foundation.write(pipe[1], "open\n", 5) == 5 && close(pipe[1]) == 0)
            for (password, expected) in [
                (nil, Ending.url(.clientCertificateRejected)), ("wrong", .url(.clientCertificateRejected)),
                ("", .url(.clientCertificateRejected)), ("open", .status(200)),
            ] {
                let client = URLClient.fresh {
                    $0.engine = .libcurl
                    $0.tls.authorities = .data(authority.certificate)
                    $0.tls.clientCertificate = .init(certificate: certificate, key: keyFile, password: password)
                }
                let ending = await client.begin(server.url("/")).ending()
                precondition(ending == expected, "\(password ?? "none"): \(ending)")
                await client.shutdown().value
            }
            precondition(readLine() == "open")
        }
    }

    // MARK: Sessions

    /// Sends requests one after the other, each on a connection of its own.
    private func request(
        _ count: Int,
        at server: LoopbackServer,
        by client: URLClient
    ) async throws {
        for _ in 0..<count { _ = try await client.begin(server.url("/")).get() }
    }

    private func closingServer(_ change: (inout LoopbackServer.TLS) -> Void = { _ in }) throws -> LoopbackServer {
        var tls = LoopbackServer.TLS(certificate)
        change(&tls)
        return try LoopbackServer(tls: tls) { _ in .response(headers: ["Connection": "close"]) }
    }

    private func client(_ change: (inout URLClient.TLS) -> Void = { _ in }) -> URLClient {
        var tls = URLClient.TLS()
        tls.authorities = .data(authority.certificate)
        change(&tls)
        return URLClient.fresh { [tls] in
            $0.engine = .libcurl
            $0.tls = tls
        }
    }

    @Test(arguments: [URLClient.TLS.Version.v1_2, .v1_3])
    func `a new connection resumes the session of an earlier one, until the client is gone`(
        version: URLClient.TLS.Version
    ) async throws {
        let server = try closingServer { $0.maximumVersion = version }
        defer { server.stop() }
        let client = client()
        try await request(6, at: server, by: client)
        #expect(server.connectionCount == 6 && server.resumptionCount == 5)
        await client.shutdown().value
        let next = self.client()
        try await request(2, at: server, by: next)
        #expect(server.connectionCount == 8 && server.resumptionCount == 6)
        await next.shutdown().value
    }

    @Test func `a session is resumed by its own client only`() async throws {
        let clients = try LoopbackServer.Authority(name: "The authority of clients")
        let server = try closingServer { $0.clientAuthority = clients.certificate }
        defer { server.stop() }
        let all = try ["one", "two"].map { name in
            let identity = try clients.issue(to: [name])
            let certificate = try URLClient.TLS.ClientCertificate(
                certificate: write(identity.certificate, name + ".pem"),
                key: write(identity.key, name + ".key")
            )
            return client { $0.clientCertificate = certificate }
        }
        for client in all { try await request(2, at: server, by: client) }
        #expect(server.connectionCount == 4 && server.resumptionCount == 2)
        // It would be let in with the session of another one.
        let stranger = client()
        #expect(await stranger.begin(server.url("/")).ending() != .status(200))
        #expect(server.resumptionCount == 2)
        for client in all + [stranger] { await client.shutdown().value }
    }

    @Test func `a missing certificate is told, though the server resets the connection under an upload`() async throws {
        let clients = try LoopbackServer.Authority(name: "The authority of clients")
        let server = try server { $0.clientAuthority = clients.certificate }
        defer { server.stop() }
        for _ in 1...20 {
            let client = URLClient.fresh {
                $0.engine = .libcurl
                $0.tls.authorities = .data(authority.certificate)
            }
            let put = URLRequest(server.url("/")) {
                $0.httpMethod = "PUT"
                $0.httpBody = Data(count: 300_000)
            }
            let ending = await client.begin(put).ending()
            // Since 8.9, libcurl doesn't look for an alert on a connection that was reset.
            let isUnseen = ending == .url(.networkConnectionLost) && LibcurlEngine.versionNumber >= 0x08_09_00
            #expect(ending == .url(.clientCertificateRequired) || isUnseen)
            await client.shutdown().value
        }
        #expect(server.requestCount == 0)
    }

    // MARK: Connections and bodies

    @Test func `a client over a session refuses a certificate that the system doesn't know`() async throws {
        let server = try server()
        defer { server.stop() }
        let client = URLClient.fresh { $0.engine = .urlSession }
        let ending = await client.begin(server.url("/")).ending()
        #expect(ending == .url(.serverCertificateUntrusted) && server.requestCount == 0)
        await client.shutdown().value
    }

    @Test func `large bodies go both ways on connections that are kept`() async throws {
        let size = 3 << 20
        let server = try LoopbackServer(tls: .init(certificate)) { request in
            .response(body: .bytes(request.body))
        }
        defer { server.stop() }
        let metrics = Log<URLClient.Metrics>()
        let client = URLClient.fresh {
            $0.engine = .libcurl
            $0.tls.authorities = .data(authority.certificate)
            $0.monitor = { event in event.metrics.map { metrics.add($0) } }
        }
        let body = Data((0..<size).map { UInt8(truncatingIfNeeded: $0 &* 31) })
        for _ in 0..<3 {
            let (echo, _) = try await client.upload(server.url("/"), from: .data(body)).get()
            #expect(echo == body)
        }
        #expect(server.connectionCount == 1 && metrics.entries.map(\.isReused) == [false, true, true])
        #expect(metrics.entries[0].tlsHandshake > .zero)
        await client.shutdown().value
    }

    @Test func `a body without a length is whole with the farewell, and cut short with a reset`() async throws {
        let server = try LoopbackServer(tls: .init(certificate)) { request in
            let head = Script.Step.send(.text("HTTP/1.1 200 OK\r\nConnection: close\r\n\r\nhello"))
            return request.path == "/whole" ? [head, .close] : [head, .reset]
        }
        defer { server.stop() }
        let client = URLClient.fresh {
            $0.engine = .libcurl
            $0.tls.authorities = .data(authority.certificate)
        }
        #expect(try await client.begin(server.url("/whole")).text() == "hello")
        #expect(await client.begin(server.url("/cut")).ending() == .url(.networkConnectionLost))
        await client.shutdown().value
    }

    // MARK: Sockets with a path

    @Test(arguments: [false, true])
    func `requests go through a socket with a path, whatever host they name`(isSecure: Bool) async throws {
        let path = folder.url.appending(path: "socket").path
        let server = try LoopbackServer(tls: isSecure ? .init(certificate) : nil, unixSocketPath: path) { request in
            .response(body: .text("\(request.headers["Host"] ?? "") \(request.target)"))
        }
        let client = URLClient.fresh {
            $0.engine = .libcurl
            $0.unixSocketPath = path
            $0.tls.authorities = .data(authority.certificate)
        }
        #expect(try await client.begin(server.url("/a?b=c")).text() == "localhost /a?b=c")
        if !isSecure {
            let url = try #require(URL(string: "http://nowhere.invalid:81/x"))
            #expect(try await client.begin(url).text() == "nowhere.invalid:81 /x")
        }
        await client.shutdown().value
        server.stop()
        #expect(!FileManager.default.fileExists(atPath: path))
        let late = URLClient.fresh {
            $0.engine = .libcurl
            $0.unixSocketPath = path
        }
        #expect(await late.begin(server.url("/")).ending() == .url(.cannotConnectToHost))
        await late.shutdown().value
    }
}

private typealias Script = LoopbackServer.Script

/// A client's certificate, and its key in two formats, encrypted with the password "open".
private enum EncryptedKey {
    static let all = [
        """
        -----BEGIN ENCRYPTED PRIVATE KEY-----
        MIHrMFYGCSqGSIb3DQEFDTBJMCgGCSqGSIb3DQEFDDAbBAg84hmubNPVXgIBATAM
        BggqhkiG9w0CCQUAMB0GCWCGSAFlAwQBAgQQ+45YQX7FZ3HR45g9/Dk1SQSBkCvQ
        G0g9Ym4rOX5ZdO4XLrNU7TBYwvX85ZGvdQXKg6dJ/Vzqfm2HVEFjDmHrQcNhgcsN
        LArN/Tg4v2dlsVCa51RTAtOy1pH3x8hYoTQqYvnZEDtMk3d/QMWk9jYQhK+J89XQ
        Se8j4sLHNS7ouTggoMyz+llgqBbk6pMJq262EN4cOnMpBMWkr8MQ7K48pu7gsw==
        -----END ENCRYPTED PRIVATE KEY-----

        """,
        """
        -----BEGIN EC PRIVATE KEY-----
        Proc-Type: 4,ENCRYPTED
        DEK-Info: AES-128-CBC,DE505DD66F2385D14470B23F88B920DE

        RJFzdu3qlhRa7NEQQqzkf+3IdOu7Lcri0qDbw0pyMFbl6ukvY1uIeToB3aEyb3TB
        V2ZPhhMe1+DlUQEnyd2livXau6eIakEn+kbwCzB0zew5J2YEIZEgDAR2xUgoP69w
        u1aKVbuwPYNOixvV8Cq0CY+i9Dau+Ec9tKQVXKlSri4=
        -----END EC PRIVATE KEY-----

        """,
    ]

    static let certificate = """
        -----BEGIN CERTIFICATE-----
        MIIBPTCB5KADAgECAgEBMAoGCCqGSM49BAMCMB0xGzAZBgNVBAMMEkEgY2xpZW50
        IGZvciB0ZXN0czAgFw0wMTAxMDEwMDAwMDBaGA8yMTAxMDEwMTAwMDAwMFowHTEb
        MBkGA1UEAwwSQSBjbGllbnQgZm9yIHRlc3RzMFkwEwYHKoZIzj0CAQYIKoZIzj0D
        AQcDQgAE0hhWao05bIZ2zWgBBHGNMhskrpchfGC5VXmfwl/e+vOjQazEUjAtCY2V
        f6IuSM0ON7bJmO4wE9dAgAne+0OnH6MTMBEwDwYDVR0TAQH/BAUwAwEB/zAKBggq
        hkjOPQQDAgNIADBFAiBcIUcBwUZDTZZ2JjgA/6bBfiomWX165NjsWO4vc22zigIh
        APmcpR53NEbZtV877RVsqq4WMKmdAYgp7bvqKJWJUPkx
        -----END CERTIFICATE-----

        """
}
#endif
