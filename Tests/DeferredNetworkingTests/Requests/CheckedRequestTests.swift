import Foundation
import TestSupport
import Testing

@testable import DeferredNetworking

#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

@Suite("Checked request", .ownThread, .timeLimit(.minutes(1)))
struct CheckedRequestTests {
    struct Refusal: Sendable, CustomTestStringConvertible {
        let request: URLRequest
        let message: String

        init(_ message: String, url: String = "http://host/", _ change: (inout URLRequest) -> Void = { _ in }) {
            var request = URLRequest(url: URL(string: url) ?? URL(filePath: "/malformed"))
            change(&request)
            self.request = request
            self.message = "The request cannot be sent: " + message
        }

        var testDescription: String { message }
    }

    static let refusals: [Refusal] = [
        Refusal("it has no URL; set one such as \"https://host/path\"") { $0.url = nil },
        Refusal("the URL \"a/b\" is relative; resolve it against a base such as \"https://host/\"", url: "a/b"),
        Refusal(
            "the scheme \"ftp\" of \"ftp://host/\" is not http or https; use \"https\", as in \"https://host/path\"",
            url: "ftp://host/"
        ),
        Refusal(
            "the scheme \"file\" of \"file:///etc\" is not http or https; use \"https\", as in \"https://host/path\"",
            url: "file:///etc"
        ),
        Refusal("the URL \"http:///x\" has no host; write \"https://host/path\"", url: "http:///x"),
        Refusal("the URL \"http://:80/x\" has no host; write \"https://host/path\"", url: "http://:80/x"),
        Refusal("the URL \"http:x\" has no host; write \"https://host/path\"", url: "http:x"),
        Refusal("the port 99999 of \"http://host:99999/\" is out of range; use 1 to 65535", url: "http://host:99999/"),
        Refusal("the port 0 of \"http://…@host:0/\" is out of range; use 1 to 65535", url: "http://me:secret@host:0/"),
        Refusal("the method \"GET /\\r\\nX: y\" is not a token; use letters only, such as \"POST\"") {
            $0.httpMethod = "GET /\r\nX: y"
        },
        Refusal("the method \"\" is not a token; use letters only, such as \"POST\"") { $0.httpMethod = "" },
        Refusal(
            "the header name \"X-A: 1\\r\\nX-B\" is not a token; use letters, digits and hyphens only"
        ) { $0.setValue("secret", forHTTPHeaderField: "X-A: 1\r\nX-B") },
        Refusal(
            "the header name \"X\\0\\u{7F}Y\" is not a token; use letters, digits and hyphens only"
        ) { $0.setValue("v", forHTTPHeaderField: "X\0\u{7F}Y") },
        Refusal("the time-out of inf s is not a positive, finite number of seconds") { $0.timeoutInterval = .infinity },
        Refusal("the time-out of nan s is not a positive, finite number of seconds") { $0.timeoutInterval = .nan },
        Refusal("the time-out of 0.0 s is not a positive, finite number of seconds") { $0.timeoutInterval = 0 },
        Refusal("the time-out of -1.5 s is not a positive, finite number of seconds") { $0.timeoutInterval = -1.5 },
        Refusal("the method \"GET\" cannot carry a body; use POST, or remove the body") { $0.httpBody = Data([1]) },
        Refusal("the method \"HEAD\" cannot carry a body; use POST, or remove the body") {
            $0.httpMethod = "HEAD"
            $0.httpBodyStream = InputStream(data: Data([1]))
        },
        Refusal("the header Content-Length: 2 contradicts the body of 5 bytes; leave it out") {
            $0.httpMethod = "POST"
            $0.httpBody = Data("hello".utf8)
            $0.setValue("2", forHTTPHeaderField: "content-length")
        },
        Refusal(
            "the header Transfer-Encoding: \"chunked\" cannot be set, since servers disagree about where a request ends "
                + "that also has a Content-Length; leave it out"
        ) { $0.setValue("chunked", forHTTPHeaderField: "transfer-encoding") },
        Refusal("the header Content-Length: \"+5\" is not a number; leave it out") {
            $0.httpMethod = "POST"
            $0.httpBody = Data("hello".utf8)
            $0.setValue("+5", forHTTPHeaderField: "Content-Length")
        },
    ]

    @Test(arguments: refusals)
    func `requests that cannot be sent are refused with a reason`(_ refusal: Refusal) {
        let error = #expect(throws: URLClientError.self) { try CheckedRequest(refusal.request) }
        #expect(error?.description == refusal.message)
        #expect(error?.localizedDescription == refusal.message)
    }

    @Test func `a refusal never shows a password or the value of a header`() {
        for refusal in Self.refusals {
            #expect(!refusal.message.contains("secret"))
        }
    }

    @Test func `a request that may only come from a cache is refused where there is none`() throws {
        var request = URLRequest(url: try #require(URL(string: "http://host/")))
        request.cachePolicy = .returnCacheDataDontLoad
        if SafeConfiguration.keepsCache {
            #expect(try CheckedRequest(request).request == request)
        } else {
            #expect(throws: URLClientError.self) { try CheckedRequest(request) }
        }
    }

    @Test(arguments: [(0.001, 1), (0.5, 1), (1, 1), (1.1, 2), (60, 60)])
    func `time-outs are rounded up to whole seconds`(timeout: Double, expected: Double) throws {
        var request = URLRequest(url: try #require(URL(string: "http://host/")))
        request.timeoutInterval = timeout
        #expect(try CheckedRequest(request).request.timeoutInterval == expected)
        #expect(TimeoutRounding.repaired(timeout) == expected)
    }

    @Test(arguments: [1e10, 1e300])
    func `the longest time-out replaces one that libcurl cannot hold`(timeout: Double) throws {
        var request = URLRequest(url: try #require(URL(string: "http://host/")))
        request.timeoutInterval = timeout
        #expect(try CheckedRequest(request).request.timeoutInterval == TimeoutRounding.longest)
    }

    @Test(arguments: [(Double.nan, 60), (0, 60), (-1, 60), (.infinity, TimeoutRounding.longest)])
    func `a session's senseless time-out becomes the default or the longest`(timeout: Double, expected: Double) {
        #expect(TimeoutRounding.repaired(timeout) == expected)
    }

    @Test(arguments: ["a\n", "a\r\nX: b", "a\0"])
    func `a default header that would be dropped, or inject another, is refused`(value: String) throws {
        let request = URLRequest(url: try #require(URL(string: "http://host/")))
        let error = #expect(throws: URLClientError.self) {
            try CheckedRequest(request).fitted(to: StubEngine(defaultHeaders: ["Authorization": value]))
        }
        #expect(error?.description.contains("\"Authorization\" contains control characters") == true)
    }

    @Test func `a stream with a length is refused where it would go out in chunks`() throws {
        var request = URLRequest(url: try #require(URL(string: "http://host/")))
        request.httpMethod = "POST"
        request.setValue("2", forHTTPHeaderField: "Content-Length")
        let body = CheckedRequest.Body.stream { InputStream(data: Data("hello".utf8)) }
        if StreamedLengths.areHonoured {
            _ = try CheckedRequest(request, body: body)
        } else {
            #expect(throws: URLClientError.self) { try CheckedRequest(request, body: body) }
        }
    }

    @Test func `a scheme in capitals is lowered and nothing else is changed`() throws {
        var request = URLRequest(url: try #require(URL(string: "HTTPS://Host:8443/A%2Fb?C=d#E")))
        request.httpMethod = "DELETE"
        request.setValue("v", forHTTPHeaderField: "X-A")
        let checked = try CheckedRequest(request).request
        #expect(checked.url?.absoluteString == "https://Host:8443/A%2Fb?C=d#E")
        #expect(checked.httpMethod == "DELETE")
        #expect(checked.allHTTPHeaderFields == ["X-A": "v"])
    }

    @Test func `a URL with a base becomes absolute`() throws {
        let url = try #require(URL(string: "b?c", relativeTo: URL(string: "http://host/a/")))
        #expect(try CheckedRequest(URLRequest(url: url)).url.absoluteString == "http://host/a/b?c")
    }

    @Test func `an empty body on a GET is taken away`() throws {
        var request = URLRequest(url: try #require(URL(string: "http://host/")))
        request.httpBody = Data()
        #expect(try CheckedRequest(request).request.httpBody == nil)
    }

    @Test func `a download's response isn't one from a cache, and stays in none, unless the caller has said so`() throws
    {
        let url = try #require(URL(string: "http://host/"))
        let request = CheckedRequest.checked(URLRequest(url: url))
        #expect(request.isCacheable && !request.uncached().isCacheable)
        let policy = request.uncached().request.cachePolicy
        #expect(policy == (SafeConfiguration.keepsCache ? .reloadIgnoringLocalCacheData : .useProtocolCachePolicy))
        let chosen = CheckedRequest.checked(URLRequest(url: url, cachePolicy: .returnCacheDataElseLoad))
        #expect(chosen.uncached().request.cachePolicy == .returnCacheDataElseLoad)
    }

    @Test(arguments: ["/", "/nowhere/at/all", "/dev/null"])
    func `a body file must be a regular file that can be read`(path: String) throws {
        var request = URLRequest(url: try #require(URL(string: "http://host/")))
        request.httpMethod = "PUT"
        #expect(throws: URLClientError.self) { try CheckedRequest(request, body: .file(URL(filePath: path))) }
    }

    @Test func `text is shown on one line and cut off when it is long`() {
        #expect(DisplayText.quoted("a\"\t\u{1}b") == "\"a\\\"\\t\\u{1}b\"")
        #expect(DisplayText.quoted(String(repeating: "x", count: 1000)).count == 203)
    }
}
