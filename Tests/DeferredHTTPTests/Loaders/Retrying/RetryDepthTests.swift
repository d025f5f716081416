import DeferredCore
import DeferredHTTP
import DeferredTesting
import TestSupport
import Testing

@Suite(.ownThread, .timeLimit(.minutes(5)))
struct RetryDepthTests {
    @Test(arguments: [Duration.zero, .nanoseconds(1)])
    func `ten thousand attempts of a loader that answers at once don't nest`(pause: Duration) async throws {
        let strategy = RetryStrategy.custom { $0.number < 10_000 ? pause : nil }
        let stub = StubLoader(.response(503))
        let task = (Retry(strategy) --> Throttle(maximum: 2) --> stub).load(.example)
        #expect(try await task.get().status == .serviceUnavailable)
        #expect(stub.requests.count == 10_000)
    }
}
