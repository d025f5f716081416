import DeferredCore
import DeferredHTTP
import DeferredTask
import DeferredTesting
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
}
