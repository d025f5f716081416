import DeferredHTTP
import DeferredNetworking
import DeferredTesting
import Foundation
import TestSupport
import Testing

#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

@Suite(.ownThread, .timeLimit(.minutes(1)))
struct HTTPErrorDescriptionTests {
    private let secrets = ["hunter2", "c2VjcmV0", "tok123", "s3ss10n"]

    /// Returns a request with a secret in each place that can hold one.
    private func request() throws -> HTTPRequest {
        let url = try #require(
            URL(string: "https://me:hunter2@host/path?q=1&access_token=tok123&api_key=tok123#token=tok123")
        )
        return HTTPRequest(
            .post,
            url: url,
            headers: [
                "Authorization": "Basic c2VjcmV0", "cookie": "id=s3ss10n", "Proxy-Authorization": "Basic c2VjcmV0",
                "Accept": "text/html",
            ],
            body: .text("hunter2")
        )
    }

    private func dumped(_ value: Any) -> String {
        var text = ""
        dump(value, to: &text)
        return text
    }

    @Test func `an error says in one line what went wrong`() throws {
        let underlying = URLError(.timedOut, userInfo: [NSURLErrorFailingURLErrorKey: try #require(try request().url)])
        let error = HTTPError(.timedOut, request: try request(), underlying: underlying)
        let url = "https://…@host/path?q=1&access_token=…&api_key=…#token=…"
        #expect("\(error)" == "POST \(url): timed out (URLError -1001)")
        #expect(error.localizedDescription == "\(error)")
    }

    @Test func `a long URL is shortened`() throws {
        let url = try #require(URL(string: "https://host/" + String(repeating: "p", count: 1_000_000) + "?key=tok123"))
        let refusal = URLClientError(.shutDown, url: url)
        let inner = HTTPError(.shutDown, request: HTTPRequest(url: url), underlying: refusal)
        let shown = "https://host/" + String(repeating: "p", count: 183) + "…"
        let expected =
            "GET \(shown): shut down (The client is shut down; use a client that is still running: "
            + "\"https://host/" + String(repeating: "p", count: 187) + "…\")"
        #expect("\(inner)" == expected)
        let error = HTTPError(.authenticationFailed, request: HTTPRequest(url: url), underlying: inner)
        #expect("\(error)" == "GET \(shown): authentication failed (\(expected))")
    }

    @Test func `no description shows a secret`() throws {
        let request = try request()
        let headers: HTTPHeaders = ["Set-Cookie": "id=s3ss10n", "X-Api-Key": "tok123"]
        let response = HTTPResponse(request: request, status: 401, headers: headers, body: Data("hunter2".utf8))
        let inner = HTTPError(.unacceptableStatus, request: request, response: response)
        let error = HTTPError(.authenticationFailed, request: request, response: response, underlying: inner)
        for value in [error, inner, response, request, request.headers, headers, request.body, headers.fields] as [Any]
        {
            for text in ["\(value)", String(reflecting: value), dumped(value)] {
                for secret in secrets {
                    #expect(!text.contains(secret), "\(type(of: value))")
                }
            }
        }
        #expect("\(request.headers)".contains("Accept: text/html"))
    }

    @Test func `neither does a loader with a password`() {
        let loader = BasicAuthentication(user: "me", password: "secret")
        for text in ["\(loader)", String(reflecting: loader), dumped(loader)] {
            #expect(!text.contains("bWU6c2VjcmV0"))
        }
    }

    @Test func `a foreign cause is named by its type, since its text might contain a secret`() throws {
        struct Failure: Error { let token = "tok123" }
        let text = "\(HTTPError(.unknown, request: try request(), underlying: Failure()))"
        #expect(text.contains("Failure") && !text.contains("tok123"))
    }
}
