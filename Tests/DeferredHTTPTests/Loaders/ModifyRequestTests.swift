import DeferredHTTP
import DeferredTesting
import TestSupport
import Testing

@Suite(.ownThread, .timeLimit(.minutes(1)))
struct ModifyRequestTests {
    private enum Failure: Error { case thrown }

    @Test func `the changed request is loaded, and the response names it`() throws {
        let task = (ModifyRequest { $0.headers["X"] = "1" } --> StubLoader(.response())).load(.example)
        let response = try #require(try task.peek()?.get())
        #expect(response.request.headers["X"] == "1" && task.request.headers["X"] == nil)
    }

    @Test func `an error that the closure throws fails the request, and nothing is sent`() throws {
        let stub = StubLoader(.response())
        let task = (ModifyRequest { _ in throw Failure.thrown } --> stub).load(.example)
        guard case .failure(let error) = try #require(task.peek()) else { return }
        #expect(error.code == .invalidRequest && error.underlying is Failure && stub.requests.isEmpty)
    }

    @Test func `the closure is not called for a task that is cancelled`() {
        let calls = Journal<Int>()
        let task = HTTPTask(.example)
        task.cancel()
        (ModifyRequest { _ in calls.add(1) } --> StubLoader()).load(task)
        #expect(calls.entries.isEmpty && task.codeNow == .cancelled)
    }
}
