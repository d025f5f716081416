import DeferredHTTP
import DeferredNetworking
import DeferredTask
import DeferredTesting
import TestSupport
import Testing

@Suite(.ownThread, .timeLimit(.minutes(1)))
struct ValidateTests {
    @Test(arguments: [(200, true), (299, true), (199, false), (304, false), (404, false), (503, false)])
    func `statuses other than 200 to 299 are failures`(code: Int, isAccepted: Bool) throws {
        let task = (Validate() --> StubLoader(.response(HTTPStatus(code), body: "b"))).load(.example)
        guard case .failure(let error) = try #require(task.peek()) else {
            #expect(isAccepted)
            return
        }
        #expect(!isAccepted && error.code == .unacceptableStatus)
        #expect(error.response?.status.code == code && error.response?.text == "b")
    }

    @Test func `the loader and the request can accept others`() {
        var request = HTTPRequest.example
        let chain = Validate { $0 == 404 } --> StubLoader(.response(404))
        #expect(chain.load(request).statusNow == 404)
        request.acceptsStatus = { $0 == 200 }
        #expect(chain.load(request).codeNow == .unacceptableStatus)
    }

    @Test func `loaders before it see a response whose type is refused, and a breaker counts it`() {
        let (html, json): (HTTPHeaders, Set<String>) = (["Content-Type": "text/html"], ["application/json"])
        let stub = StubLoader(.response(401, headers: html, body: "x"), .json("{}"))
        let validate = Validate(accepting: { _ in true }, types: json)
        let bearer = BearerAuthentication(token: "old", hosts: ["example.com"]) { _ in .success("new") }
        #expect((bearer --> validate --> stub).load(.example).statusNow == .ok)
        #expect(stub.requests.map { $0.headers["Authorization"] } == ["Bearer old", "Bearer new"])
        let breaker = CircuitBreaker(failures: 1)
        let chain = breaker --> validate --> StubLoader(.response(headers: html, body: "x"))
        #expect(chain.load(.example).codeNow == .invalidResponse && breaker.isOpen)
    }

    @Test(arguments: [(204, HTTPMethod.get), (304, .get), (200, .head)])
    func `a response without content has no type to refuse, however it is delivered`(code: Int, method: HTTPMethod) {
        var request = HTTPRequest.example
        request.method = method
        request.delivery = .stream
        let stub = StubLoader(.response(HTTPStatus(code), headers: ["Content-Type": "text/html"]))
        let chain = Validate(accepting: { _ in true }, types: ["application/json"]) --> stub
        #expect(chain.load(request).statusNow == HTTPStatus(code))
    }

    @Test func `failures pass`() {
        #expect((Validate() --> StubLoader(.failure(.timedOut))).load(.example).codeNow == .timedOut)
    }
}
