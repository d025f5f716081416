import Deferred
import NIOCore
import NIOPosix
import Testing

@testable import Server

@Suite(.timeLimit(.minutes(1)))
struct EventLoopFutureTests {
    private struct Failure: Error {}

    private let loop = MultiThreadedEventLoopGroup.singleton.any()

    @Test func `a future is a task with its result`() async throws {
        #expect(try await loop.makeSucceededFuture(1).task.get() == 1)
        let failed: EventLoopFuture<Int> = loop.makeFailedFuture(Failure())
        await #expect(throws: Failure.self) { try await failed.task.get() }
    }

    @Test func `cancelling ends the task, and not the future`() async throws {
        let promise = loop.makePromise(of: Int.self)
        let task = promise.futureResult.task
        task.cancel()
        #expect(task.peek()?.isCancelled == true)
        promise.succeed(1)
        #expect(try await promise.futureResult.get() == 1)
    }

    @Test func `a task is a future with its result`() async throws {
        let (promise, lost) = (Task<Int>.Promise(), Task<Int>.Promise())
        let future = Task(promise).future(on: loop)
        promise.succeed(with: 1)
        #expect(try await future.get() == 1)
        lost.fail(with: Failure())
        await #expect(throws: Failure.self) { try await Task(lost).future(on: loop).get() }
    }

    @Test func `a channel that is closed cancels the task`() async throws {
        let closed = loop.makePromise(of: Void.self)
        let promise = Task<Int>.Promise()
        let task = Task(promise, uponCancel: { $0.fail(with: CancellationError()) })
        let future = task.future(on: loop, until: closed.futureResult)
        closed.succeed()
        await #expect(throws: CancellationError.self) { try await future.get() }
    }
}

extension Result {
    fileprivate var isCancelled: Bool {
        if case .failure(let error) = self { error.isCancellation } else { false }
    }
}
