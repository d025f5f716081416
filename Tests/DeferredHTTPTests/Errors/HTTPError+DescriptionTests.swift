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

    @Test func `an error of the network says why, without secrets`() throws {
        let reason = "Status 206\nfrom http://me:hunter2@host/"
        let underlying = URLError(.badServerResponse, userInfo: [NSLocalizedDescriptionKey: reason])
        let error = HTTPError(.invalidResponse, request: .example, underlying: underlying)
        #expect(
            "\(error)"
                == "GET https://example.com/: invalid response (URLError -1011: Status 206\\nfrom http://…@host/)"
        )
    }

    @Test func `a reason is shown before the cause, in one line and without secrets`() {
        let reason = "the token=hunter2 is old\nask for another"
        let error = HTTPError(.unknown, request: .example, reason: reason, underlying: URLError(.timedOut))
        let line = "GET https://example.com/: failed (the token=… is old\\nask for another; URLError -1001)"
        #expect("\(error)" == line && error.localizedDescription == line && error.reason == reason)
        let response = HTTPResponse(request: .example, status: .ok)
        let text = "\(HTTPError(.invalidResponse, request: .example, response: response, reason: "it is odd"))"
        #expect(text == "GET https://example.com/: invalid response, status 200 OK (it is odd)")
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

    @Test(arguments: [(302, " to \"ftp://…@host/?token=…\""), (404, "")])
    func `a redirect that is not followed is shown with its Location`(status: Int, shown: String) {
        let headers: HTTPHeaders = ["Location": "ftp://me:word@host/?token=abc"]
        let response = HTTPResponse(request: .example, status: HTTPStatus(status), headers: headers, body: Data())
        let error = HTTPError(.unacceptableStatus, request: .example, response: response)
        #expect("\(error)" == "GET https://example.com/: unacceptable status, status \(HTTPStatus(status))\(shown)")
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

    @Test func `a foreign cause that describes itself is shown, without secrets`() throws {
        struct Described: Error, CustomStringConvertible { let description: String }
        struct Localized: LocalizedError { let errorDescription: String? }
        for (text, shown) in [
            ("no seat left", "no seat left"), ("token=hunter2, seat 3", "token=…, seat 3"),
            ("Authorization: Bearer hunter2", "Authorization: …"),
            (#"{"api_key": "hunter2", "a": 1}"#, #"{"api_key": "…", "a": 1}"#),
            ("got Bearer hunter2", "got Bearer …"),
            ("at https://me:hunter2@host/?access_token=hunter2#x", "at https://…@host/?access_token=…"),
            ("two\nlines", #"two\nlines"#),
        ] {
            for error in [Described(description: text), Localized(errorDescription: text)] as [any Error] {
                let line = "\(HTTPError(.unknown, request: .example, underlying: error))"
                #expect(line == "GET https://example.com/: failed (\(type(of: error)): \(shown))")
            }
        }
    }

    @Test func `a failure to decode says where it is, what was expected and what was found`() throws {
        struct User: Decodable { let name: String, age: Int }
        struct Page: Decodable { let users: [User], token: Int? }
        for (body, shown) in [
            (#"{"users": [{"name": "a", "age": 1}, {"name": "b"}]}"#, #"there is no "age" in users[1]"#),
            (#"{"users": [{"name": "a", "age": "old"}]}"#, #"users[0].age is "old" instead of Int"#),
            (#"{"users": [{"name": null, "age": 1}]}"#, "users[0].name is null instead of String"),
            (#"{"users": [{"name": [], "age": 1}]}"#, "users[0].name is an array instead of String"),
            (#"{"users": {}}"#, "users is an object instead of Array<Any>"),
            (#"{"users": [], "token": "hunter2"}"#, "token is … instead of Int"),
            ("[1]", "the body is an array instead of Dictionary<String, Any>"),
            ("<html>", "the body is not JSON"), ("", "the body is empty"),
        ] {
            let response = HTTPResponse(request: .example, status: .ok, body: Data(body.utf8))
            let error = #expect(throws: HTTPError.self) { try response.decode(Page.self) }
            let line = "\(try #require(error))"
            #expect(
                line.hasPrefix("GET https://example.com/: cannot decode the body, status 200 OK (\(shown)"),
                "\(line)"
            )
            #expect(!line.contains("hunter2"))
        }
    }

    @Test func `decoding a body that is not in memory says so`() throws {
        let stream = HTTPResponse(request: .example, status: .ok, stream: .empty)
        let file = HTTPResponse(request: .example, status: .ok, file: URL(filePath: "/tmp/x"))
        for response in [stream, file] {
            let error = #expect(throws: HTTPError.self) { try response.decode(Int.self) }
            #expect(error?.code == .cannotDecode && error?.reason?.contains("not in memory") == true)
        }
    }

    @Test func `a foreign cause without a description is named by its type, since its text might contain a secret`()
        throws
    {
        struct Failure: Error { let token = "tok123" }
        let text = "\(HTTPError(.unknown, request: try request(), underlying: Failure()))"
        #expect(text.contains("Failure") && !text.contains("tok123"))
    }
}
