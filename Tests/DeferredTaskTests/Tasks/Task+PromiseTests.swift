import DeferredCore
import DeferredTask
import TestSupport
import Testing

@Suite(.ownThread, .timeLimit(.minutes(1)))
struct TaskPromiseTests {
    @Test func `the first to fill a promise ends its task`() async throws {
        let promise = Task<Int>.Promise()
        let task = Task(promise)
        #expect(promise.peek() == nil)
        #expect(promise.succeed(with: 1))
        #expect(!promise.fail(with: CancellationError()))
        #expect(!promise.fill(with: .success(2)))
        #expect(try await task.value == 1)
        #expect(try promise.peek()?.get() == 1)
    }

    @Test func `a promise that is dropped unfilled fails its task, with its file and line`() async {
        let task = Self.lostTask()
        let error = await #expect(throws: BrokenPromise.self) { try await task.value }
        #expect(error?.line == Self.lineOfPromise)
        #expect("\(error?.file ?? "")" == "DeferredTaskTests/Task+PromiseTests.swift")
        #expect(error?.description.contains("Task+PromiseTests.swift:\(Self.lineOfPromise)") == true)
    }

    private static let lineOfPromise: UInt = #line + 4

    /// The task of a promise that only a completion handler holds, which nobody keeps.
    private static func lostTask() -> Task<Int> {
        let promise = Task<Int>.Promise()
        let task = Task(promise).map { $0 + 1 }
        let handler: @Sendable (Int) -> Void = { promise.succeed(with: $0) }
        withExtendedLifetime(handler) { #expect(task.peek() == nil) }
        return task
    }

    @Test func `a cancellation handler that holds the promise makes no cycle`() async {
        let lifetimes = Lifetimes()
        do {
            let promise = Task<Int>.Promise()
            _ = Task(promise) { [token = lifetimes.make()] in
                token.touch()
                promise.fail(with: CancellationError())
            }
        }
        #expect(lifetimes.count == 0)
    }
}
