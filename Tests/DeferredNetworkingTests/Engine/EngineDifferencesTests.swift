#if os(Linux)
import DeferredCore
import DeferredTask
import DeferredTesting
import Foundation
import FoundationNetworking
import TestSupport
import Testing

@testable import DeferredNetworking

/// The rows of the table in the article *URLSession on Linux*.
@Suite(.ownThread, .timeLimit(.minutes(1)))
struct EngineDifferencesTests {
    private typealias Engine = URLClient.Configuration.Engine

    private static func client(
        _ engine: Engine,
        _ change: (inout URLClient.Configuration) -> Void = { _ in }
    ) -> URLClient {
        var configuration = URLClient.Configuration()
        configuration.engine = engine
        configuration.retries = .none
        configuration.validation = .any
        change(&configuration)
        return URLClient(configuration: configuration)
    }

    /// Returns the value of a field of a request as a server gets it from each engine.
    private func sent(_ name: String, _ change: (inout URLRequest) -> Void) async throws -> [Engine: String] {
        let server = try LoopbackServer { .response(body: .text($0.headers[name] ?? "none")) }
        defer { server.stop() }
        var result: [Engine: String] = [:]
        for engine in [Engine.urlSession, .libcurl] {
            result[engine] = try await Self.client(engine).begin(URLRequest(server.url("/"), change)).text()
        }
        return result
    }

    @Test func `URLSession says the process's language, and libcurl says none`() async throws {
        let found = try await sent("Accept-Language") { _ in }
        #expect(found[.urlSession] == Locale.current.language.languageCode?.identifier && found[.libcurl] == "none")
        let own = try await sent("Accept-Language") { $0.setValue("de", forHTTPHeaderField: "Accept-Language") }
        #expect(own == [.urlSession: "de", .libcurl: "de"])
    }

    @Test func `URLSession says that the body of a POST is a form, and libcurl says nothing`() async throws {
        let found = try await sent("Content-Type") {
            $0.httpMethod = "POST"
            $0.httpBody = Data("a=b".utf8)
        }
        #expect(found == [.urlSession: "application/x-www-form-urlencoded", .libcurl: "none"])
    }

    @Test func `a request's credential for a proxy goes to servers over URLSession only`() async throws {
        let found = try await sent("Proxy-Authorization") {
            $0.setValue("secret", forHTTPHeaderField: "Proxy-Authorization")
        }
        #expect(found == [.urlSession: "secret", .libcurl: "none"])
    }

    @Test(arguments: ["POST", "PUT", "PATCH"])
    func `a method that asks for a body has a length without one`(method: String) async throws {
        let found = try await sent("Content-Length") { $0.httpMethod = method }
        #expect(found == [.urlSession: "0", .libcurl: "0"])
    }

    @Test(arguments: ["DELETE", "OPTIONS"])
    func `another method has none over libcurl`(method: String) async throws {
        let found = try await sent("Content-Length") { $0.httpMethod = method }
        #expect(found == [.urlSession: "0", .libcurl: "none"])
    }

    @Test func `a request's own cookies replace those that are stored, over both`() async throws {
        let server = try LoopbackServer {
            .response(headers: ["Set-Cookie": "a=stored"], body: .text($0.headers["Cookie"] ?? "none"))
        }
        defer { server.stop() }
        let own = URLRequest(server.url("/")) { $0.setValue("b=own", forHTTPHeaderField: "Cookie") }
        for engine in [Engine.urlSession, .libcurl] {
            let client = Self.client(engine) { $0.cookies = URLSessionConfiguration.ephemeral.httpCookieStorage }
            var texts: [String] = []
            for request in [URLRequest(url: server.url("/")), own, URLRequest(url: server.url("/"))] {
                texts.append(try await client.begin(request).text())
            }
            #expect(texts == ["none", "b=own", "a=stored"])
        }
    }

    @Test func `fields whose names differ in case are all in the head, over libcurl in their order`() async throws {
        let server = try LoopbackServer { _ in .response(headers: ["X-A": "1", "x-a": "2"], body: "hello") }
        defer { server.stop() }
        let (_, whole) = try await Self.client(.libcurl).begin(server.url("/")).get()
        #expect(whole.headers.values(for: "X-A") == ["1", "2"])
        #expect(whole.httpURLResponse.value(forHTTPHeaderField: "X-A") == "1, 2")
        let (_, sorted) = try await Self.client(.urlSession).begin(server.url("/")).get()
        #expect(sorted.headers.values(for: "X-A") == ["1", "2"])
    }

    @Test func `a 305 is not followed, and has a body over libcurl only`() async throws {
        let server = try LoopbackServer { request in
            .response(305, headers: ["Location": "/next"], body: .text(request.path))
        }
        defer { server.stop() }
        for (engine, body) in [(Engine.urlSession, ""), (.libcurl, "/")] {
            let (data, response) = try await Self.client(engine).begin(server.url("/")).get()
            #expect(String(decoding: data, as: UTF8.self) == body && response.status == 305)
        }
        #expect(server.requests.count == 2)
    }

    @Test func `the proxy of the environment gets the requests, but for the hosts of no_proxy, over both`() async {
        await #expect(processExitsWith: .success) {
            let proxy = try LoopbackServer { .response(body: .text("proxy \($0.headers["Host"] ?? "")")) }
            let server = try LoopbackServer { _ in .response(body: "direct") }
            setenv("http_proxy", "http://127.0.0.1:\(proxy.port)", 1)
            setenv("no_proxy", "127.0.0.1", 1)
            let far = try #require(URL(string: "http://nowhere.invalid/"))
            for engine in [Engine.urlSession, .libcurl] {
                let client = Self.client(engine)
                let texts = [
                    try await client.begin(far).text(), try await client.begin(server.url("/")).text(),
                ]
                precondition(texts == ["proxy nowhere.invalid", "direct"], "\(engine): \(texts)")
                // What is in flight at the end of the process would count as leaked.
                await client.invalidateAndCancel().value
            }
        }
    }

    @Test func `the file of authorities in the environment counts over libcurl, unless the client has its own`() async {
        await #expect(processExitsWith: .success) {
            let authority = try LoopbackServer.Authority()
            let server = try LoopbackServer(tls: .init(authority.issue())) { _ in .response(body: "hello") }
            let folder = try TemporaryDirectory()
            try authority.certificate.write(to: folder.file)
            func ending(_ change: (inout URLClient.Configuration) -> Void = { _ in }) async -> Ending {
                await Self.client(.libcurl, change).begin(server.url("/")).ending()
            }
            for variable in ["SSL_CERT_FILE", "URLSessionCertificateAuthorityInfoFile"] {
                let before = await ending()
                setenv(variable, folder.file.path, 1)
                let during = await ending()
                let other = try LoopbackServer.Authority(name: "Another authority")
                let own = await ending { $0.tls.authorities = .data(other.certificate) }
                unsetenv(variable)
                let untrusted = Ending.url(.serverCertificateUntrusted)
                precondition([before, during, own] == [untrusted, .status(200), untrusted], "\(variable): \(during)")
            }
            setenv("URLSessionCertificateAuthorityInfoFile", "INSECURE_SSL_NO_VERIFY", 1)
            let careless = await ending()
            precondition(careless == .url(.serverCertificateUntrusted))
        }
    }
}
#endif
