import Deferred
import DeferredCompatibility
import Foundation
import TestSupport
import Testing

/// Code for the archived library, as it was written. The tests are deprecated, too, which silences the warnings.
@Suite(.ownThread, .timeLimit(.minutes(1)))
struct ArchivedSpellingsTests {
    enum Failure: Error { case expected, unexpected }

    @available(*, deprecated)
    @Test func `futures take the names of old`() async {
        let one = Deferred<Int>()
        let next = one.andThen(upon: .main) { number in Future(value: "\(number)") }
        let lazily = one.every { $0 + 1 }
        let labelled = one.every(per: { $0 + 2 })
        let both = one.and(next)
        let three = one.and(next, lazily)
        let handled = Deferred<Int>()
        one.upon { handled.fill(with: $0) }
        let queue: PreferredExecutor = .any()
        let onQueue = one.map(upon: queue) { $0 * 2 }
        one.fill(with: 1)
        #expect(await next.value == "1")
        #expect(await lazily.value == 2)
        #expect(await labelled.value == 3)
        #expect(await both.value == (1, "1"))
        #expect(await three.value == (1, "1", 2))
        #expect(await handled.value == 1)
        #expect(await onQueue.value == 2)
        #expect(!Future<Int>().isFilled)
    }

    @available(*, deprecated)
    @Test func `tasks take the names of old`() async throws {
        let result: TaskResult<Int> = .success(1)
        let deferred = Deferred<Task<Int>.Result>()
        let task = Task(deferred, uponCancel: {})
        let next = task.andThen(upon: .any()) { Task.success("\($0)") }
        let lazily = task.everySuccess { $0 + 1 }
        let handled = Deferred<Int>()
        task.uponSuccess { handled.fill(with: $0) }
        deferred.fill(with: result)
        #expect(try await next.value == "1")
        #expect(try await lazily.value == 2)
        #expect(await handled.value == 1)

        let failed = Task<Int>(failure: Failure.expected)
        let substitute: @Sendable (any Error) throws -> Int = { _ in 3 }
        let recovered = failed.recover(upon: .main, substituting: substitute)
        let fallen = failed.fallback(upon: .any()) { _ in Task.success(4) }
        let failure = Deferred<any Error>()
        failed.uponFailure { failure.fill(with: $0) }
        #expect(try await recovered.value == 3)
        #expect(try await fallen.value == 4)
        #expect(await failure.value as? Failure == .expected)
    }

    @available(*, deprecated)
    @Test func `repeat retries as often as requested, after the first attempt`() async {
        let attempts = Log<String>()
        let task = Task<Int>.repeat(upon: .any(), count: 2, continuingIf: { $0 as? Failure == .expected }) {
            attempts.add("first")
            return Task(failure: Failure.expected)
        }
        await #expect(throws: Failure.expected) { try await task.value }
        #expect(attempts.entries == ["first", "first", "first"])

        let stopped = Task<Int>.repeat(upon: .immediate, continuingIf: { $0 as? Failure == .expected }) {
            attempts.add("second")
            throw Failure.unexpected
        }
        await #expect(throws: Failure.unexpected) { try await stopped.value }
        #expect(attempts.entries.count == 4)
    }

    @available(*, deprecated)
    @MainActor
    @Test func `futures take the label of old`() async {
        let label = "here"
        let future = Future(value: 1)
        let promise = Task<Int>.Promise()
        #expect(future.map(upon: .immediate) { $0 + 1 }.peek() == 2)
        #expect(future.flatMap(upon: .immediate) { Future(value: $0 + 2) }.peek() == 3)
        #expect(await future.map(upon: .mainActor) { "\(label) \($0)" }.value == "here 1")
        #expect(await future.flatMap(upon: .mainActor) { Future(value: "\(label) \($0)") }.value == "here 1")
        #expect(await Future.async(upon: .any()) { 4 }.value == 4)
        #expect(await Future.async(upon: .mainActor) { label }.value == "here")
        let mapped = promise.map(upon: .immediate) { (try? $0.get()) ?? 0 }
        promise.succeed(with: 5)
        #expect(mapped.peek() == 5)
    }

    @available(*, deprecated)
    @MainActor
    @Test func `tasks take the label of old`() async throws {
        let label = "here"
        let (task, failed) = (Task.success(1), Task<Int>.failure(Failure.expected))
        #expect(try await task.map(upon: .any()) { $0 + 1 }.value == 2)
        #expect(try await task.flatMap(upon: .main) { .success($0 + 2) }.value == 3)
        #expect(try await task.flatMap(upon: .main) { Task.success("\($0)") }.value == "1")
        #expect(try await task.map(upon: .mainActor) { "\(label) \($0)" }.value == "here 1")
        #expect(try await task.flatMap(upon: .mainActor) { .success("\(label) \($0)") }.value == "here 1")
        #expect(try await failed.recover(upon: .any()) { _ in 4 }.value == 4)
        #expect(try await failed.recover(upon: .any(), { _ in 5 }).value == 5)
        #expect(try await failed.fallback(upon: .any(), to: { _ in .success(6) }).value == 6)
        #expect(try await Task.retry(RetryPolicy(attempts: 1), upon: .immediate) { .success($0 + 6) }.value == 7)
        #expect(try await Task.async(upon: .global()) { 8 }.value == 8)
        let flagged = Task<Int>.async(upon: .any(), flags: .enforceQoS, onCancel: Failure.unexpected) { 9 }
        #expect(try await flagged.value == 9)
    }

    @available(*, deprecated)
    @Test func `tokens and their sources take the property of old`() {
        let source = CancellationTokenSource()
        #expect(!source.isCancelling && !source.token.isCancelling)
        source.cancel()
        #expect(source.isCancelling && source.token.isCancelling)
    }

    @Test func `the new names are not ambiguous for it`() async throws {
        let failed = Task<Int>.failure(Failure.expected)
        #expect(try await failed.recover(on: .any()) { _ in 1 }.value == 1)
        #expect(try await failed.recover { _ in 2 }.value == 2)
        #expect(try await Task.success(1).flatMap(on: .main) { .success($0 + 2) }.value == 3)
        #expect(try await Task { 4 }.value == 4)
        #expect(try await failed.fallback { _ in .success(5) }.value == 5)
        #expect(try await Task.retry(RetryPolicy(attempts: 1)) { .success($0 + 5) }.value == 6)
        #expect(try await Task.async(on: .any()) { 7 }.value == 7)
        Deferred(filledWith: 1).upon(.immediate) { #expect($0 == 1) }
    }

    @Test func `the names alone, as functions, mean the new ones`() async throws {
        typealias Map = (ImmediateExecutor, @escaping @Sendable (Int) -> Int) -> Future<Int>
        typealias Fallback = (ImmediateExecutor, @escaping @Sendable (any Error) throws -> Task<Int>) -> Task<Int>
        let map: Map = Future(value: 1).map
        let fallback: Fallback = Task<Int>.failure(Failure.expected).fallback
        #expect(map(.immediate) { $0 + 1 }.peek() == 2)
        #expect(try await fallback(.immediate) { _ in .success(3) }.value == 3)
        #expect(Optional(Future(value: 1)).map { $0.map { $0 + 3 } }?.peek() == 4)
    }

    @available(*, deprecated)
    @Test func `tasks that are joined with futures are cancelled with them`() {
        let (wasCancelled, other) = (Deferred<Void>(), Deferred<Result<Int, any Error>>())
        let task = Task(Deferred<Task<Int>.Result>(), uponCancel: { wasCancelled.fill() })
        task.andSuccess(of: other).cancel()
        #expect(wasCancelled.isFilled)
    }

    @available(*, deprecated)
    @Test func `a repetition without an end is one`() async throws {
        let task = Task.repeat(upon: .any(), count: .max) { Task.success(1) }
        #expect(try await task.get() == 1)
    }
}
