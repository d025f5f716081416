import DeferredHTTP
import DeferredNetworking
import DeferredTesting
import Foundation
import TestSupport
import Testing

#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

/// A request that a chain's terminal loader has checked is not checked again by its client. Nothing slips by.
@Suite(.ownThread, .timeLimit(.minutes(2)))
struct CheckedOnceTests {
    private func reason(_ request: HTTPRequest, _ loader: URLSessionLoader = .underTest()) async -> String? {
        guard case .failure(let error) = await loader.load(request).result, error.code == .invalidRequest else {
            return nil
        }
        return (error.underlying as? URLClientError)?.description
    }

    @Test func `errors beyond the grammar of the parts are found`() async throws {
        var (encoded, long, wrong, bodily) = (
            HTTPRequest.example, HTTPRequest.example, HTTPRequest.example, HTTPRequest.example
        )
        encoded.headers["transfer-encoding"] = "chunked"
        #expect(await reason(encoded)?.contains("Transfer-Encoding") == true)
        (long.method, long.body, long.headers["CONTENT-LENGTH"]) = (.post, .text("hello"), "6")
        #expect(await reason(long)?.contains("contradicts the body of 5 bytes") == true)
        wrong.headers["Content-Length"] = "many"
        #expect(await reason(wrong)?.contains("not a number") == true)
        bodily.body = .text("hello")
        #expect(await reason(bodily)?.contains("cannot carry a body") == true)
        bodily.method = "get"
        #expect(await reason(bodily)?.contains("cannot carry a body") == true)
    }

    @Test func `an IPv6 host is refused with the reason where the client's engine can't connect to it`() async {
        for host in ["::1", "[::1]", "::1%lo"] {
            let reason = await reason(HTTPRequest(scheme: "http", host: host, port: 1))
            let isRefused = !isLibcurlTested && !IPv6Literals.areSupported
            #expect((reason?.contains("IPv6 literal") == true) == isRefused, "\(host): \(reason ?? "")")
        }
    }

    @Test func `an IPv6 host may have a zone, written with or without its encoding`() throws {
        for (host, authority) in [
            ("fe80::1%eth0", "[fe80::1%25eth0]"), ("[fe80::1%25eth0]", "[fe80::1%25eth0]"),
            ("fe80::1%2", "[fe80::1%252]"), ("fe80::1%25", "[fe80::1%2525]"), ("fe80::1%252", "[fe80::1%252]"),
            ("fe80::1%my_if-0.1", "[fe80::1%25my_if-0.1]"),
        ] {
            #expect(try HTTPRequest(scheme: "http", host: host).check().absoluteString == "http://\(authority)")
        }
        let url = try #require(URL(string: "http://[fe80::1%25eth0]:8080/path"))
        #expect(try HTTPRequest(url: url).check() == url)
        for host in ["fe80::1%", "fe80::1%a b", "fe80::1%a%20b", "fe80::1%e%25", "[fe80::1%25ü]"] {
            #expect(throws: URLClientError.self, "\(host)") { try HTTPRequest(host: host).check() }
        }
        let error = #expect(throws: URLClientError.self) { try HTTPRequest(host: "fe80::1%25a%20b").check() }
        #expect(
            error?.description
                == "The request cannot be sent: the zone \"a%20b\" of the host \"fe80::1%25a%20b\" is not "
                + "the name of a network interface; use the name or the number of one, as in \"fe80::1%25eth0\""
        )
    }

    #if os(Linux)
    private static let hasIPv6 = (try? LoopbackServer.overIPv6(respond: { _ in .response(204) })) != nil

    @Test(.enabled(if: hasIPv6)) func `a chain over libcurl loads from an IPv6 host`() async throws {
        let server = try LoopbackServer.overIPv6(respond: {
            .response(body: .text($0.headers["Authorization"] ?? "none"))
        })
        defer { server.stop() }
        var configuration = URLClient.Configuration()
        configuration.engine = .libcurl
        let chain =
            BasicAuthentication(user: "me", password: "secret", hosts: ["http://[::1]:\(server.port)"])
            --> URLSessionLoader(configuration: configuration)
        let port = Int(server.port)
        let requests = [
            HTTPRequest(url: server.url("/")), HTTPRequest(scheme: "http", host: "::1", port: port),
            HTTPRequest(scheme: "http", host: "[::1]", port: port),
        ]
        for request in requests {
            #expect(try await chain.load(request).get().text == "Basic bWU6c2VjcmV0")
        }
        let zoned = HTTPRequest(scheme: "http", host: "::1%lo", port: port)
        #expect(try await chain.load(zoned).get().text == "none")
    }
    #endif

    @Test func `fields of the client's configuration are checked, and don't replace the request's`() async throws {
        let server = try LoopbackServer { request in
            .response(body: .text("\(request.headers["X-Own"] ?? "") \(request.headers["X-Both"] ?? "")"))
        }
        defer { server.stop() }
        let configuration = URLClient.Configuration()
        configuration.session.httpAdditionalHeaders = ["X-Own": "client", "X-Both": "client"]
        let request = HTTPRequest(url: server.url("/"), headers: ["x-both": "request"])
        #expect(try await URLSessionLoader.underTest(configuration).load(request).get().text == "client request")
        configuration.session.httpAdditionalHeaders = ["X-Own": "a\r\nb: c"]
        #expect(await reason(request, .underTest(configuration))?.contains("X-Own") == true)
        configuration.session.httpAdditionalHeaders = ["Transfer-Encoding": "chunked"]
        #expect(await reason(request, .underTest(configuration))?.contains("Transfer-Encoding") == true)
    }

    @Test func `a scheme may be spelled in any case, and fields that occur twice in several`() async throws {
        let server = try LoopbackServer { request in
            .response(body: .text("\(request.method) \(request.headers.values(for: "X-Tag"))"))
        }
        defer { server.stop() }
        var request = HTTPRequest("delete", scheme: "HTTP", host: "127.0.0.1", port: Int(server.port))
        request.headers = ["X-Tag": "one", "x-tag": "two", "X-TAG": "three"]
        let text = try await URLSessionLoader.underTest().load(request).get().text
        #expect(text == #"delete ["one,two,three"]"# || text == #"DELETE ["one,two,three"]"#)
    }
}
