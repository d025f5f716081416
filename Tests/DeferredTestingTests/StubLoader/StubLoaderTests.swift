import DeferredCore
import DeferredHTTP
import DeferredTask
import DeferredTesting
import Foundation
import TestSupport
import Testing

@Suite(.ownThread, .timeLimit(.minutes(1)))
struct StubLoaderTests {
    private let request = HTTPRequest(host: "host", path: "/a")

    private func text(_ task: HTTPTask) -> String {
        switch task.peek() {
        case .success(let response): "\(response.status.code) \(response.text)"
        case .failure(let error): "\(error.code)"
        case nil: "pending"
        }
    }

    @Test func `answers come in order, the last again and again`() {
        let stub = StubLoader(.response(201, body: "a"), .failure(.timedOut), .json("{}"))
        #expect((0..<4).map { _ in text(stub.load(request)) } == ["201 a", "timed out", "200 {}", "200 {}"])
        #expect(stub.requests.map(\.path) == ["/a", "/a", "/a", "/a"] && stub.tasksInFlight.isEmpty)
    }

    @Test func `a closure answers what is asked`() {
        let stub = StubLoader { .response(body: $0.path) }
        #expect(text(stub.load(request)) == "200 /a")
    }

    @Test func `delays and reports come in the order in which they were added`() async throws {
        let clock = ManualClock()
        let answer = StubLoader.Answer.response().reporting(1, of: 4).delayed(by: .seconds(1)).reporting(2, of: 4)
            .delayed(by: .seconds(1))
        let task = StubLoader(answer, clock: clock).load(request)
        let progress = task.task.progress
        #expect(abs(progress.fractionCompleted - 0.25) < 1e-6)
        try await clock.waitForSleepers()
        clock.advance(by: .seconds(1))
        try await clock.waitForSleepers()
        #expect(abs(progress.fractionCompleted - 0.5) < 1e-6 && text(task) == "pending")
        clock.advance(by: .seconds(1))
        #expect(try await task.value.get().status == .ok)
    }

    @Test func `a cancelled task ends at once, and so does its delay`() async throws {
        let clock = ManualClock()
        let stub = StubLoader(.response().delayed(by: .seconds(1)), clock: clock)
        let task = stub.load(request)
        try await clock.waitForSleepers()
        task.cancel()
        #expect(text(task) == "cancelled" && stub.tasksInFlight.isEmpty)
        try await eventually { clock.sleeperCount == 0 }
    }

    @Test func `an answer can ignore cancellations`() {
        let stub = StubLoader(.pending.ignoringCancellation())
        let task = stub.load(request)
        task.cancel()
        #expect(text(task) == "pending" && stub.tasksInFlight.count == 1)
        stub.tasksInFlight[0].succeed(.ok, body: Data("by hand".utf8))
        #expect(text(task) == "200 by hand")
    }

    @Test func `a task that was cancelled before is not taken in`() {
        let (stub, task) = (StubLoader(.response()), HTTPTask(request))
        task.cancel()
        stub.load(task)
        #expect(text(task) == "cancelled" && stub.requests.isEmpty)
    }

    @Test func `resets are counted`() {
        let stub = StubLoader()
        #expect(stub.reset().isFilled && stub.resetCount == 1)
    }

    @Test func `pending tasks end when the stub goes`() {
        let lifetimes = Lifetimes()
        do {
            let stub = StubLoader()
            stub.load(request).addCompletionHandler { [token = lifetimes.make()] _ in token.touch() }
            #expect(lifetimes.count == 1)
        }
        #expect(lifetimes.count == 0)
    }
}
