import DeferredCore
import DeferredHTTP
import DeferredTask
import DeferredTesting
import Foundation
import TestSupport
import Testing

@Suite(.ownThread, .timeLimit(.minutes(1)))
struct CredentialHostsTests {
    private let stub = StubLoader(.response(401))
    private let refreshes = Journal<String?>()
    private let environment = HTTPEnvironment(host: "api.example.com")

    private func bearer(hosts: Set<String> = []) -> BearerAuthentication {
        BearerAuthentication(token: "hush", hosts: hosts) { [refreshes] old in
            refreshes.add(old)
            return .success("fresh")
        }
    }

    private var sent: [String?] { stub.requests.map { $0.headers["Authorization"] } }

    @Test func `a token goes to requests without a host, before and after the environment`() {
        let chains: [any HTTPLoader] = [
            bearer() --> ApplyEnvironment(environment) --> stub,
            ApplyEnvironment(environment) --> Retry(.never) --> bearer() --> stub,
        ]
        for chain in chains { chain.load(HTTPRequest(path: "/users")) }
        #expect(sent == ["Bearer hush", "Bearer fresh", "Bearer hush", "Bearer fresh"])
    }

    @Test func `a foreign host gets no token, and its 401 fetches none`() {
        let chain = bearer(hosts: ["API.example.com"]) --> stub
        for host in ["evil.example", "example.com", "api.example.com.evil.example"] {
            #expect(chain.load(HTTPRequest(host: host)).statusNow == .unauthorized)
        }
        (bearer() --> stub).load(HTTPRequest(host: "api.example.com"))
        #expect(sent == [nil, nil, nil, nil] && refreshes.entries.isEmpty)
        chain.load(HTTPRequest(host: "Api.Example.com"))
        #expect(sent.suffix(2) == ["Bearer hush", "Bearer fresh"])
    }

    @Test func `a host that is set behind the environment is the request's own`() {
        let chain =
            ApplyEnvironment(environment) --> ModifyRequest { $0.host = "evil.example" } --> bearer() --> stub
        chain.load(HTTPRequest(path: "/"))
        #expect(sent == [nil])
    }

    @Test func `a name and a password go to their hosts`() {
        let chain = BasicAuthentication(user: "me", password: "hush", hosts: ["a.example"]) --> stub
        for host in ["a.example", "b.example", nil] { chain.load(HTTPRequest(host: host)) }
        #expect(sent.map { $0 == nil } == [false, true, false])
    }

    @Test(arguments: [
        ("https://api.example.com:444/", false), ("http://api.example.com/", false),
        ("https://api.example.com:443/", true),
        ("/b", true),
    ])
    func `a token belongs to the origin of its host, also after a redirect`(location: String, keeps: Bool) {
        let environment = HTTPEnvironment(host: "api.example.com", headers: ["X-Plan": "gold"])
        let chains: [(any HTTPLink, HTTPRequest)] = [
            (
                FollowRedirects() --> bearer(hosts: ["api.example.com"]),
                HTTPRequest(host: "api.example.com", path: "/a")
            ),
            (FollowRedirects() --> bearer() --> ApplyEnvironment(environment), HTTPRequest(path: "/a")),
            (FollowRedirects() --> ApplyEnvironment(environment) --> bearer(), HTTPRequest(path: "/a")),
            (
                FollowRedirects() --> BasicAuthentication(user: "me", password: "hush", hosts: ["api.example.com"]),
                HTTPRequest(host: "api.example.com", path: "/a")
            ),
        ]
        for (links, request) in chains {
            let stub = StubLoader(.response(307, headers: ["Location": location]), .response())
            (links --> stub).load(request)
            #expect(stub.requests.map { $0.headers["Authorization"] != nil } == [true, keeps], "\(links)")
        }
    }

    @Test(arguments: [
        ("api.example.com", "https://API.example.com:443/", true),
        ("api.example.com", "http://api.example.com/", false),
        ("api.example.com", "https://api.example.com:8443/", false),
        ("api.example.com:8443", "https://api.example.com:8443/", true),
        ("api.example.com:8443", "https://api.example.com/", false),
        ("http://localhost:8080", "http://localhost:8080/", true), ("http://localhost", "http://localhost:80/", true),
        ("http://localhost:8080", "https://localhost:8080/", false), ("::1", "https://[::1]/", true),
        ("[::1]:8080", "https://[::1]:8080/", true),
    ])
    func `a host has the scheme and the port that it says, or the default`(host: String, url: String, keeps: Bool)
        throws
    {
        (bearer(hosts: [host]) --> stub).load(try HTTPRequest(url: #require(URL(string: url))))
        #expect((sent[0] != nil) == keeps)
    }

    @Test(arguments: ["", "ftp://host", "https://host/", "host:0", "host:x", "host:65536", "a b", "me@host", "[::1"])
    func `what is no host is refused`(host: String) throws {
        let task = (bearer(hosts: [host]) --> stub).load(HTTPRequest(host: "api.example.com"))
        let error = try #require(task.errorNow)
        #expect(error.code == .invalidRequest && error.description.contains("\"\(host)\""))
        #expect(stub.requests.isEmpty)
    }

    @Test func `a signing loader can ask whether a request is for the environment`() {
        var request = HTTPRequest(path: "/")
        #expect(request.isForEnvironment && !HTTPRequest(host: "api.example.com").isForEnvironment)
        (ApplyEnvironment(environment) --> stub).load(request)
        request = stub.requests[0]
        #expect(request.host == "api.example.com" && request.isForEnvironment)
        for change in [{ $0.scheme = "http" }, { $0.port = 8080 }, { $0.host = "h" }] as [(inout HTTPRequest) -> Void] {
            var changed = request
            change(&changed)
            #expect(!changed.isForEnvironment)
        }
    }

    @Test func `a request with a scheme or a port, and no host, gets nothing that is for the environment`() {
        let secret = HTTPEnvironment(
            host: "api.example.com",
            query: [URLQueryItem(name: "key", value: "hush")],
            headers: ["X-Key": "hush"]
        )
        for chain in [ApplyEnvironment(secret) --> bearer() --> stub, bearer() --> ApplyEnvironment(secret) --> stub] {
            for text in ["http:/x", "https:/x"] {
                guard let url = URL(string: text) else { continue }
                chain.load(HTTPRequest(url: url))
            }
        }
        for request in stub.requests where request.scheme == "http" {
            #expect(request.headers["Authorization"] == nil && request.headers["X-Key"] == nil && request.query.isEmpty)
        }
    }
}
