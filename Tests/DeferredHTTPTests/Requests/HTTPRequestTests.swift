import DeferredHTTP
import Foundation
import TestSupport
import Testing

@Suite(.ownThread, .timeLimit(.minutes(1)))
struct HTTPRequestTests {
    @Test(arguments: [
        "http://host", "https://host/", "http://host:8080/a/b", "http://user:p%40ss@host/path",
        "http://host/a%2Fb;v=1/c",
        "http://host/?", "http://host/?a=1&a=2&b", "http://host/?q=a+b%20c%2Bd", "http://host/path?x=%C3%A4#part",
        "http://[::1]:80/", "http://127.0.0.1:8080/?a=b=c", "http://host/%E2%82%AC", "http://host//double//slash/",
        "HTTP://Host/Path",
    ])
    func `of a URL nothing is dropped`(text: String) throws {
        let url = try #require(URL(string: text))
        #expect(HTTPRequest(url: url).url?.absoluteString == text)
    }

    @Test func `a relative URL is resolved against its base`() throws {
        let base = try #require(URL(string: "http://host/a/b?x=1"))
        #expect(
            HTTPRequest(url: try #require(URL(string: "../c?d", relativeTo: base))).url?.absoluteString
                == "http://host/c?d"
        )
    }

    @Test func `parts are encoded where they have to be`() {
        let request = HTTPRequest(
            host: "host",
            port: 8080,
            path: "/a b/ü?#%/c:d",
            query: [
                .init(name: "q&", value: "a+b=c&d e/é"), .init(name: "flag", value: nil), .init(name: "e", value: ""),
            ]
        )
        let path = "/a%20b/%C3%BC%3F%23%25/c:d"
        #expect(request.url?.absoluteString == "https://host:8080\(path)?q%26=a%2Bb%3Dc%26d%20e/%C3%A9&flag&e=")
        #expect(request.path == "/a b/ü?#%/c:d")
        #expect(request.query.map(\.name) == ["q&", "flag", "e"])
        #expect(request.query.map(\.value) == ["a+b=c&d e/é", nil, ""])
    }

    @Test func `a path gets its slash, and a query can be taken away`() throws {
        var request = HTTPRequest(scheme: "http", host: "host", path: "a", query: [.init(name: "x", value: "1")])
        #expect(request.url?.absoluteString == "http://host/a?x=1")
        request.query = []
        #expect(request.url?.absoluteString == "http://host/a")
    }

    @Test func `segments and items are added without touching the rest`() throws {
        var request = HTTPRequest(url: try #require(URL(string: "http://host/a%2Fb?x=%2B+")))
        request.appendPathSegments("c/d", "e f")
        request.addQueryItem(name: "y", value: "1&2")
        #expect(request.url?.absoluteString == "http://host/a%2Fb/c%2Fd/e%20f?x=%2B+&y=1%262")
    }

    @Test(arguments: [
        ("::1", "https://[::1]/"), ("[fe80::1]", "https://[fe80::1]/"), ("127.0.0.1", "https://127.0.0.1/"),
    ])
    func `a host can be an address`(host: String, url: String) {
        #expect(HTTPRequest(host: host, path: "/").url?.absoluteString == url)
    }

    @Test func `a host can have other letters`() {
        let host = HTTPRequest(host: "bücher.example", path: "/").url?.host(percentEncoded: true)
        #expect(host == "xn--bcher-kva.example" || host == "b%C3%BCcher.example", "\(host ?? "none")")
    }

    @Test func `copies share the identity, others do not`() {
        let (one, two) = (HTTPRequest(host: "host"), HTTPRequest(host: "host"))
        var copy = one
        copy.headers["X"] = "1"
        #expect(copy.id == one.id && one.id != two.id)
    }

    @Test func `options have defaults, and are the request's own`() {
        enum Priority: HTTPRequestOption { static let defaultValue = 5 }
        var request = HTTPRequest.example
        #expect(request[Priority.self] == 5)
        request[Priority.self] = 7
        #expect(request[Priority.self] == 7 && HTTPRequest.example[Priority.self] == 5)
        #expect(request.isThrottled && request.retryStrategy == nil && request.timeout == nil)
    }

    @Test func `methods know whether they are safe and idempotent`() {
        let methods: [HTTPMethod] = [.get, .head, .options, .trace, .put, .delete, .post, .patch, "PURGE"]
        #expect(methods.filter(\.isSafe) == [.get, .head, .options, .trace])
        #expect(methods.filter(\.isIdempotent) == [.get, .head, .options, .trace, .put, .delete])
        let ofWebDAV: [HTTPMethod] = [
            "PROPFIND", "REPORT", "SEARCH", "QUERY", "MKCOL", "COPY", "MOVE", "UNLOCK", "PROPPATCH",
        ]
        #expect(ofWebDAV.filter(\.isSafe) == ["PROPFIND", "REPORT", "SEARCH", "QUERY"])
        #expect(ofWebDAV.allSatisfy { $0.isIdempotent })
        for method in ["LOCK", "CONNECT", "get", "Put", "propfind"] as [HTTPMethod] { #expect(!method.isIdempotent) }
    }

    @Test func `a status has a phrase, and a class`() {
        #expect("\(HTTPStatus.notFound) \(HTTPStatus(799))" == "404 Not Found 799")
        let classes = [\HTTPStatus.isSuccess, \.isRedirection, \.isClientError, \.isServerError]
        for (index, first) in [200, 300, 400, 500].enumerated() {
            for code in [first, first + 99] {
                #expect(classes.map { HTTPStatus(code)[keyPath: $0] } == (0..<4).map { $0 == index }, "\(code)")
            }
        }
    }
}
