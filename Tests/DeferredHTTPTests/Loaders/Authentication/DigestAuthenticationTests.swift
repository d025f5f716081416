import DeferredCore
import DeferredTask
import DeferredTesting
import Foundation
import TestSupport
import Testing

@testable import DeferredHTTP

@Suite(.ownThread, .timeLimit(.minutes(1)))
struct DigestAuthenticationTests {
    private func challenge(_ nonce: String, _ more: String = "") -> HTTPHeaders {
        ["WWW-Authenticate": #"Basic realm="r", Digest realm="r", nonce="\#(nonce)", qop="auth"\#(more)"#]
    }

    private func sent(_ stub: StubLoader) -> [AuthenticationChallenge?] {
        stub.requests.map { request in
            request.headers["Authorization"].flatMap {
                AuthenticationChallenge.challenges(in: ["WWW-Authenticate": $0]).first
            }
        }
    }

    private let environment = HTTPEnvironment(host: "api.example.com", pathPrefix: "/v1")

    @Test func `a challenge is answered, and the nonce used for the next request`() throws {
        let stub = StubLoader(.response(401, headers: challenge("n1")), .response(), .response())
        let chain = ApplyEnvironment(environment) --> DigestAuthentication(user: "me", password: "hush") --> stub
        for path in ["/a", "/b"] { #expect(chain.load(HTTPRequest(path: path)).statusNow == .ok) }
        #expect(sent(stub).map { $0?["uri"] } == [nil, "/v1/a", "/v1/b"])
        #expect(sent(stub).map { $0?["nc"] } == [nil, "00000001", "00000002"])
        #expect(sent(stub).allSatisfy { $0?.isOf("Digest") ?? true })
    }

    @Test func `what is wrong, too old or foreign`() throws {
        let digest = DigestAuthentication(user: "me", password: "hush", hosts: ["example.com"])
        let wrong = StubLoader(.response(401, headers: challenge("n")), .response(401, headers: challenge("m")))
        #expect((digest --> wrong).load(.example).statusNow == .unauthorized && wrong.requests.count == 2)
        let old = StubLoader(.response(401, headers: challenge("m2", ", stale=true")), .response())
        #expect((digest --> old).load(.example).statusNow == .ok && old.requests.count == 2)
        for request in [HTTPRequest(host: "other.example"), HTTPRequest(scheme: "http", host: "example.com")] {
            let foreign = StubLoader(.response(401, headers: challenge("n")))
            #expect((digest --> foreign).load(request).statusNow == .unauthorized && foreign.requests.count == 1)
            #expect(sent(foreign)[0] == nil)
        }
        let basic = StubLoader(.response(401, headers: ["WWW-Authenticate": "Basic realm=\"r\""]))
        let fresh = DigestAuthentication(user: "me", password: "hush", hosts: ["example.com"])
        #expect((fresh --> basic).load(.example).statusNow == .unauthorized && basic.requests.count == 1)
        var dumped = ""
        dump(digest, to: &dumped)
        #expect(!dumped.contains("hush"))
    }

    @Test func `an environment behind it is refused, since it changes what was signed`() {
        let chain =
            DigestAuthentication(user: "me", password: "hush") --> ApplyEnvironment(environment)
            --> StubLoader(.response())
        #expect(chain.load(HTTPRequest(path: "/a")).errorNow?.reason?.contains("ApplyEnvironment") == true)
    }

    @Test func `each redirect in the chain is signed for itself`() {
        let stub = StubLoader { request in
            guard request.headers["Authorization"] != nil else { return .response(401, headers: challenge("n")) }
            return request.path == "/v1/a" ? .response(307, headers: ["Location": "/v1/b"]) : .response()
        }
        let digest = DigestAuthentication(user: "me", password: "hush")
        let chain = FollowRedirects() --> ApplyEnvironment(environment) --> digest --> stub
        #expect(chain.load(HTTPRequest(path: "/a")).statusNow == .ok)
        #expect(sent(stub).map { $0?["uri"] } == [nil, "/v1/a", "/v1/b"])
    }

    @Test func `cancelling cancels the request under way`() {
        let stub = StubLoader(.response(401, headers: challenge("n")), .pending)
        let task = (DigestAuthentication(user: "me", password: "hush", hosts: ["example.com"]) --> stub).load(.example)
        #expect(stub.requests.count == 2)
        task.cancel()
        #expect(task.codeNow == .cancelled && stub.tasksInFlight.isEmpty)
    }
}
