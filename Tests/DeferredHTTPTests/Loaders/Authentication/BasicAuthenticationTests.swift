import DeferredHTTP
import DeferredTesting
import TestSupport
import Testing

@Suite(.ownThread, .timeLimit(.minutes(1)))
struct BasicAuthenticationTests {
    @Test func `the credential is added where there is none, unless the request says no`() {
        let stub = StubLoader(.response())
        let chain =
            BasicAuthentication(user: "Aladdin", password: "open sesame", hosts: ["example.com", "host"]) --> stub
        var (own, none) = (HTTPRequest.example, HTTPRequest.example)
        own.headers["authorization"] = "mine"
        none.isAuthenticated = false
        for request in [.example, own, none] { chain.load(request) }
        #expect(
            stub.requests.map { $0.headers.values(for: "Authorization") }
                == [["Basic QWxhZGRpbjpvcGVuIHNlc2FtZQ=="], ["mine"], []]
        )
    }
}
