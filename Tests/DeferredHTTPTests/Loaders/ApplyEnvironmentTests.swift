import DeferredHTTP
import DeferredTesting
import Foundation
import TestSupport
import Testing

@Suite(.ownThread, .timeLimit(.minutes(1)))
struct ApplyEnvironmentTests {
    private let environment = HTTPEnvironment(
        scheme: "http",
        host: "api.example.com",
        port: 8080,
        pathPrefix: "/v 2/",
        query: [.init(name: "key", value: "a&b")],
        headers: ["Accept": "application/json", "X-Client": "tests"]
    )

    private func sent(_ request: HTTPRequest) throws -> HTTPRequest {
        let stub = StubLoader(.response())
        (ApplyEnvironment(environment) --> stub).load(request)
        return try #require(stub.requests.first)
    }

    @Test(arguments: [
        ("/users", "/v%202/users"), ("users", "/v%202/users"), ("", "/v%202/"), ("/", "/v%202/"),
    ])
    func `a request without a host is completed`(path: String, expected: String) throws {
        let sent = try sent(
            HTTPRequest(path: path, query: [.init(name: "q", value: "1")], headers: ["accept": "text/html"])
        )
        #expect(sent.url?.absoluteString == "http://api.example.com:8080\(expected)?key=a%26b&q=1")
        #expect(sent.headers.map(\.value) == ["text/html", "tests"])
    }

    @Test func `a prefix without a slash gets one`() throws {
        let stub = StubLoader(.response())
        let chain = ApplyEnvironment(HTTPEnvironment(host: "host", pathPrefix: "/v2")) --> stub
        for path in ["users", "/users"] { chain.load(HTTPRequest(path: path)) }
        #expect(Set(stub.requests.map { $0.url?.absoluteString }) == ["https://host/v2/users"])
    }

    @Test func `a request with a host is left alone`() throws {
        let url = try #require(URL(string: "https://elsewhere/path?a=1"))
        let sent = try sent(HTTPRequest(url: url))
        #expect(sent.url == url && sent.headers.isEmpty)
    }

    @Test func `the settings of the request take precedence`() throws {
        let sent = try sent(HTTPRequest(scheme: "https", port: 1, path: "/x"))
        #expect(sent.url?.absoluteString == "https://api.example.com:1/v%202/x?key=a%26b")
    }

    @Test func `a request can have its own environment`() throws {
        var request = HTTPRequest(path: "/x")
        request.environment = HTTPEnvironment(host: "staging")
        #expect(try sent(request).url?.absoluteString == "https://staging/x")
    }

    @Test func `redirects to another origin carry neither its headers nor secrets on`() async throws {
        let other = try LoopbackServer { _ in .response(204) }
        let server = try LoopbackServer { request in
            request.path == "/same" ? .redirect(to: other.url("/other").absoluteString) : .redirect(to: "/same")
        }
        defer { for server in [server, other] { server.stop() } }
        let environment = HTTPEnvironment(
            scheme: "http",
            host: "127.0.0.1",
            port: Int(server.port),
            headers: ["X-Tenant": "t", "x-api-key": "k", "Accept": "text/plain"]
        )
        for loader in URLSessionLoader.each {
            var request = HTTPRequest(path: "/", headers: ["X-Auth-Token": "a", "Idempotency-Key": "i", "X-Own": "o"])
            request.headers["accept"] = "text/html"
            let response = try await (ApplyEnvironment(environment) --> loader).load(request).get()
            #expect(response.status == .noContent)
            let sent = try server.requests.suffix(2).map(\.headers) + [#require(other.requests.last).headers]
            for (name, values) in [
                ("X-Tenant", ["t", "t", nil]), ("X-API-Key", ["k", "k", nil]), ("X-Auth-Token", ["a", "a", nil]),
                ("Idempotency-Key", ["i", "i", "i"]), ("X-Own", ["o", "o", "o"]),
                ("Accept", ["text/html", "text/html", "text/html"]),
            ] { #expect(sent.map { $0[name] } == values, "\(name)") }
        }
    }
}
