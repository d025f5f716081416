import DeferredCore
import DeferredTask
import TestSupport
import Testing

@Suite(.ownThread, .timeLimit(.minutes(1)))
struct TaskRecoverTests {
    private enum Failure: Error { case first, second }

    @Test func `a failure is replaced with what an asynchronous closure returns or throws`() async throws {
        let failed = Task<Int>.failure(Failure.first)
        #expect(try await failed.recover { error in try await Task { error is Failure ? 1 : 2 }.value }.value == 1)
        let again = failed.recover { _ in
            await _Concurrency.Task.yield()
            throw Failure.second
        }
        await #expect(throws: Failure.second) { try await again.value }
        let succeeded = Task<Int>.success(3).recover { _ in try await Task { 4 }.value }
        #expect(try await succeeded.value == 3)
    }

    @Test func `a closure that doesn't wait runs at once`() {
        #expect(Task<Int>.failure(Failure.first).recover { $0 is Failure ? 1 : 2 }.valueNow == 1)
    }

    @Test func `cancelling cancels the Swift task of the closure`() async {
        let (started, ended) = (Deferred<Void>(), Deferred<Bool>())
        let task = Task<Int>.failure(Failure.first).recover { _ in
            started.fill()
            try? await Task.sleep(for: .seconds(60))
            ended.fill(with: _Concurrency.Task.isCancelled)
            return 1
        }
        await started.value
        task.cancel()
        #expect(await ended.value)
    }
}
