import DeferredHTTP
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

    @Test func `failures pass`() {
        #expect((Validate() --> StubLoader(.failure(.timedOut))).load(.example).codeNow == .timedOut)
    }
}
