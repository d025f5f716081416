import Foundation
import TestSupport
import Testing

@testable import DeferredNetworking

#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

@Suite("Redirect rules", .ownThread, .timeLimit(.minutes(1)))
struct RedirectRulesTests {
    private static let secrets = [
        "Authorization", "Cookie", "Proxy-Authorization", "X-API-Key", "X-Auth-Token", "X-Amz-Security-Token",
    ]

    private func response(_ status: Int, location: String?) -> ResponseHead {
        .made(status, location.map { ["Location": $0] } ?? [:])
    }

    private func request(_ url: String = "http://a/b/c/d;p?q#f", method: String = "GET") throws -> URLRequest {
        var request = URLRequest(url: try #require(URL(string: url)))
        request.httpMethod = method
        if method != "GET", method != "HEAD" {
            request.httpBody = Data("body".utf8)
        }
        for name in Self.secrets + ["Host", "X-Own", "Content-Type", "Idempotency-Key"] {
            request.setValue("v", forHTTPHeaderField: name)
        }
        return request
    }

    /// Returns the next request, or `nil` if the response is delivered.
    private func followed(_ status: Int, _ location: String?, _ request: URLRequest) throws -> URLRequest? {
        let response = response(status, location: location)
        switch RedirectRules.verdict(on: response, to: .checked(request), after: []) {
        case .follow(let next, _): return next
        case .deliver: return nil
        case .fail(let error): throw error
        }
    }

    @Test(arguments: [
        (301, "GET", "GET", false), (301, "HEAD", "HEAD", false), (301, "POST", "GET", false),
        (301, "PUT", "PUT", true), (302, "POST", "GET", false), (302, "DELETE", "DELETE", true),
        (303, "GET", "GET", false), (303, "HEAD", "HEAD", false), (303, "POST", "GET", false),
        (303, "PUT", "GET", false), (307, "POST", "POST", true), (307, "GET", "GET", false),
        (308, "POST", "POST", true), (308, "PUT", "PUT", true),
    ])
    func `the status decides about method and body as in browsers`(
        status: Int,
        method: String,
        expected: String,
        hasBody: Bool
    ) throws {
        let next = try #require(try followed(status, "/x", request(method: method)))
        #expect(next.httpMethod == expected)
        #expect(next.httpBody == (hasBody ? Data("body".utf8) : nil))
        #expect((next.value(forHTTPHeaderField: "Content-Type") == nil) == (method != expected))
        #expect(next.value(forHTTPHeaderField: "X-Own") == "v")
    }

    @Test func `several locations are followed only if they are the same`() throws {
        for (second, target) in [("/a", "http://host/a"), ("/b", nil)] {
            let headers: HTTPHeaders = ["Location": "/a", "location": second]
            let url = try #require(URL(string: "http://host/"))
            #expect(RedirectRules.target(302, in: headers, from: url)?.absoluteString == target)
        }
    }

    @Test(arguments: [200, 300, 304, 305, 306, 309, 399, 404])
    func `other statuses are delivered`(status: Int) throws {
        #expect(try followed(status, "/x", request()) == nil)
    }

    @Test(arguments: [
        nil, "", "ftp://a/", "file:///etc/passwd", "javascript:alert(1)", "data:,x", "http:///x", "http://[::1",
    ])
    func `a Location that cannot be followed is delivered`(location: String?) throws {
        #expect(try followed(302, location, request()) == nil)
    }

    @Test(arguments: [
        ("g", "http://a/b/c/g#f"), ("./g", "http://a/b/c/g#f"), ("g/", "http://a/b/c/g/#f"), ("/g", "http://a/g#f"),
        ("//g", "http://g#f"), ("?y", "http://a/b/c/d;p?y#f"), ("g?y", "http://a/b/c/g?y#f"),
        ("#s", "http://a/b/c/d;p?q#s"), ("g#s", "http://a/b/c/g#s"), (";x", "http://a/b/c/;x#f"),
        ("..", "http://a/b/#f"), ("../g", "http://a/b/g#f"), ("../../../g", "http://a/g#f"),
        ("/x%2Fy", "http://a/x%2Fy#f"), ("/x y", "http://a/x%20y#f"), ("HTTP://h/", "HTTP://h/#f"),
    ])
    func `a Location is resolved as RFC 3986 says, and inherits the fragment`(location: String, expected: String) throws
    {
        #expect(try followed(302, location, request())?.url?.absoluteString == expected)
    }

    @Test(arguments: [
        ("/x", true), ("http://a:80/x", true), ("HTTP://A/x", true), ("https://a/x", false),
        ("http://a:81/x", false),
        ("http://b/x", false), ("//a.b/x", false),
    ])
    func `headers meant for one origin stay there`(location: String, isSame: Bool) throws {
        let next = try #require(try followed(307, location, request()))
        for name in Self.secrets + ["Host"] {
            #expect((next.value(forHTTPHeaderField: name) != nil) == isSame, "\(name)")
        }
        for name in ["X-Own", "Content-Type", "Idempotency-Key"] {
            #expect(next.value(forHTTPHeaderField: name) == "v", "\(name)")
        }
    }

    @Test func `twenty redirects are followed and the next one fails with its URL`() throws {
        let response = response(302, location: "/x")
        let request = CheckedRequest.checked(try request())
        let chain = Array(repeating: request.url, count: 20)
        guard case .follow = RedirectRules.verdict(on: response, to: request, after: Array(chain.dropLast())) else {
            Issue.record("not followed")
            return
        }
        guard case .fail(let error) = RedirectRules.verdict(on: response, to: request, after: chain) else {
            Issue.record("not failed")
            return
        }
        #expect(error.code == .httpTooManyRedirects)
        #expect(error.failingURL?.absoluteString == "http://a/x#f")
        #expect(error.localizedDescription.hasPrefix("More than 20 redirects: … → "))
        #expect(error.localizedDescription.hasSuffix("\"http://a/x#f\""))
    }

    @Test func `without its body, a request has no fields that describe one`() throws {
        var request = try request(method: "POST")
        for field in ["Content-Type", "Expect", "Trailer", "Digest", "Last-Modified", "Accept"] {
            request.setValue("x", forHTTPHeaderField: field)
        }
        request.httpBodyStream = InputStream(data: Data("x".utf8))
        #expect(try followed(307, "/x", request)?.httpBodyStream != nil)
        let next = try #require(try followed(303, "/x", request))
        #expect(next.httpBodyStream == nil && next.value(forHTTPHeaderField: "Accept") == "x")
        for field in ["Content-Type", "Expect", "Trailer", "Digest", "Last-Modified"] {
            #expect(next.value(forHTTPHeaderField: field) == nil)
        }
    }

    @Test func `a body file goes with the method`() throws {
        var put = URLRequest(url: try #require(URL(string: "http://a/")))
        put.httpMethod = "PUT"
        let request = CheckedRequest.checked(put, body: .file(URL(filePath: #filePath)))
        let kept = RedirectRules.verdict(on: response(308, location: "/x"), to: request, after: [])
        let dropped = RedirectRules.verdict(on: response(303, location: "/x"), to: request, after: [])
        guard case .follow(_, .file) = kept else {
            Issue.record("\(kept)")
            return
        }
        guard case .follow(_, .inRequest) = dropped else {
            Issue.record("\(dropped)")
            return
        }
    }
}
