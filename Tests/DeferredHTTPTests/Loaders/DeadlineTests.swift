import DeferredCore
import DeferredHTTP
import DeferredTesting
import Foundation
import TestSupport
import Testing

@Suite(.ownThread, .timeLimit(.minutes(1)))
struct DeadlineTests {
    private let clock = ManualClock()

    @Test func `a request that takes longer fails, and the execution below is cancelled`() async throws {
        let stub = StubLoader()
        let task = (Deadline(.seconds(5), clock: clock) --> Retry() --> stub).load(.example)
        try await clock.waitForSleepers()
        clock.advance(by: .seconds(4))
        #expect(task.peek() == nil)
        clock.advance(by: .seconds(1))
        let result = await task.result
        guard case .failure(let error) = result else {
            Issue.record("\(result)")
            return
        }
        #expect(error.code == .timedOut && error.reason?.contains("within 5.0 seconds") == true)
        try await eventually { stub.tasksInFlight.isEmpty }
    }

    @Test func `pauses and queues count`() async throws {
        let (stub, throttle) = (StubLoader(), Throttle(maximum: 1))
        let chain = Deadline(.seconds(5), clock: clock) --> throttle --> stub
        throttle.maximum = 1
        (throttle --> stub).load(.example)
        let waiting = chain.load(.example)
        try await clock.waitForSleepers()
        clock.advance(by: .seconds(5))
        #expect(await waiting.result.failureCode == .timedOut)
        try await eventually { throttle.waitingCount == 0 }
        #expect(stub.requests.count == 1)
    }

    @Test func `a request that completes in time leaves no timer`() async throws {
        let stub = StubLoader()
        let task = (Deadline(.seconds(5), clock: clock) --> stub).load(.example)
        try await clock.waitForSleepers()
        stub.tasksInFlight[0].succeed(.ok)
        #expect(task.statusNow == .ok)
        try await eventually { clock.sleeperCount == 0 }
    }

    @Test func `a request can have its own deadline`() async throws {
        let stub = StubLoader()
        var request = HTTPRequest.example
        request.deadline = .seconds(1)
        let task = (Deadline(.seconds(5), clock: clock) --> stub).load(request)
        try await clock.waitForSleepers()
        clock.advance(by: .seconds(1))
        #expect(await task.result.failureCode == .timedOut)
    }

    @Test func `a stream has to be read in time`() async throws {
        let (bytes, feed) = AsyncStream<Data>.makeStream()
        let stub = StubLoader(.response(stream: { HTTPBodyStream(bytes) }))
        var request = HTTPRequest.example
        request.delivery = .stream
        let response = try await (Deadline(.seconds(5), clock: clock) --> stub).load(request).get()
        feed.yield(Data("a".utf8))
        var iterator = try #require(response.stream).makeAsyncIterator()
        #expect(try await iterator.next() == Data("a".utf8))
        try await clock.waitForSleepers()
        clock.advance(by: .seconds(5))
        try await eventually { clock.sleeperCount == 0 }
        feed.yield(Data("b".utf8))
        let error = await #expect(throws: HTTPError.self) {
            while try await iterator.next() != nil {}
        }
        #expect(error?.code == .timedOut)
    }

    @Test(arguments: [Duration.seconds(Int64.max), .seconds(1 << 32), Duration(attoseconds: .max)])
    func `a limit that no clock can hold never ends`(limit: Duration) {
        let stub = StubLoader()
        let task = (Deadline(limit) --> Autocancel(grace: limit) --> Retry(.custom { _ in limit }) --> stub).load(
            .example
        )
        stub.tasksInFlight[0].fail(.timedOut)
        #expect(task.peek() == nil)
        task.cancel()
        #expect(task.codeNow == .cancelled)
        let slow = StubLoader(.response().delayed(by: limit))
        let delayed = slow.load(.example)
        #expect(delayed.peek() == nil && slow.tasksInFlight.count == 1)
        let held = StubLoader(.pending.ignoringCancellation())
        let chain = Autocancel(grace: limit) --> held
        chain.load(.example)
        let reset = chain.reset()
        #expect(!reset.isFilled)
        held.tasksInFlight[0].fail(.cancelled)
        #expect(reset.isFilled)
    }
}
