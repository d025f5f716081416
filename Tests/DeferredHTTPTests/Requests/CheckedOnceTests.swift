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

    @Test func `an IPv6 host is refused with the reason where the platform can't connect to it`() async {
        for host in ["::1", "[::1]"] {
            let reason = await reason(HTTPRequest(scheme: "http", host: host, port: 1))
            #expect((reason?.contains("IPv6 literal") == true) != IPv6Literals.areSupported, "\(host)")
        }
    }

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
