// swift-format-ignore-file
// Written by Documentation/snippets.py from Documentation/Deferred.docc/Articles/MigratingFromDeferred.md.

import Deferred
import DeferredTesting
import Foundation
import TestSupport
import Testing

@Suite(.ownThread, .timeLimit(.minutes(1)))
struct MigratingFromDeferredSnippets {
    func `Silent changes`() async throws {
#sourceLocation(file: "Documentation/Deferred.docc/Articles/MigratingFromDeferred.md", line: 111)
        func rows<Value: Sendable>(_ value: Value?, _ error: any Error, _ tasks: [Task<Value>], _ queue: DispatchQueue) {
            let promise = Task<Value>.Promise()
            let promises = [promise]
            let deferred = Deferred<Value>()
            let future: Future<Value> = deferred.future
            let (task, progress) = (Task(promise), Progress(totalUnitCount: 1))
            let workItem = DispatchWorkItem {}
            _ = Future<Value>.never
            do { let never = Future.never as Future<Value>; _ = never }
            let registration: Registration = future.upon(.any()) { print($0) }
            registration.cancel()
            _ = future.map(on: .any()) { "\($0)" }
            _ = future.flatMap(on: .any()) { Future(value: $0) }
            _ = future.map { "\($0)" }
            _ = zip(future, deferred)
            _ = zip(Task(promise), Task(promise))
            _ = promises.map { Task($0) }.allSucceeded()
            _ = Future.async(on: .any(), execute: { 1 })
            _ = Task(future.map { .success($0) }, progress: progress)
            _ = Task(promise, uponCancel: { $0.fail(with: CancellationError()) })
            _ = Task(promise, progress: progress)
            _ = Task<Value>.failure(error)
            _ = Task.async(on: queue, flags: [], onCancel: CancellationError(), execute: { 1 })
            _ = task.recover(on: .any()) { throw $0 }
            _ = task.fallback(on: .any(), to: { Task.failure($0) })
            _ = Task.retry(RetryPolicy(attempts: 3), on: .any(), { _ in task })
            let ignored: Task<Void> = tasks.allSucceeded().ignored()
            let result: Task<Value>.Result = value.map { .success($0) } ?? .failure(error)
            _ = (ignored, result, task.isCancelled)
            func run(on executor: some Executor) { executor.submit { print(1) } }
            queue.async(execute: workItem)
            let loop: RunLoop = .current
            _ = (RunLoopExecutor(loop), Task.success(1))
            Task { }
            @Sendable func f() throws -> Int { 1 }
            _ = Task.catching { try f() }
            func take(_ future: some FutureProtocol<Result<Value, any Error>>) -> Task<Value> { Task(future) }
            let mutex = Mutex(0)
            mutex.withLock { $0 += 1 }
            _ = (task.shared(), tasks.allFilled(), Task(promise).ignored(), ProgressReporter())
            let done: Future<Void> = promise.ignored()
            _ = done
            task.cancel()
        }
        struct Mine: FutureProtocol {
            let base: Future<Int>
            func upon(_ executor: some Executor, execute body: @escaping @Sendable (Int) -> Void) -> Registration { base.upon(executor, execute: body) }
            func peek() -> Int? { base.peek() }
        }
#sourceLocation()
    }

    @Test func `Before and after`() async throws {
#sourceLocation(file: "Documentation/Deferred.docc/Articles/MigratingFromDeferred.md", line: 167)
        func load(_ completion: @escaping @Sendable (Data?, (any Error)?) -> Void) { completion(Data("hello".utf8), nil) }
#sourceLocation()
#sourceLocation(file: "Documentation/Deferred.docc/Articles/MigratingFromDeferred.md", line: 170)



        // before
        let deferred = Deferred<Task<Data>.Result>()
        load { data, error in
            if let data { deferred.succeed(with: data) } else { deferred.fail(with: error ?? URLError(.unknown)) }
        }
        let before = Task(deferred, uponCancel: { deferred.fail(with: CancellationError()) })

        // after: if the handler is lost, the task fails
        let promise = Task<Data>.Promise()
        load { data, error in
            if let data { promise.succeed(with: data) } else { promise.fail(with: error ?? URLError(.unknown)) }
        }
        let after = Task(promise, uponCancel: { $0.fail(with: CancellationError()) })
#sourceLocation()
#sourceLocation(file: "Documentation/Deferred.docc/Articles/MigratingFromDeferred.md", line: 188)
        #expect(try await before.value == after.value)
#sourceLocation()
    }
}
