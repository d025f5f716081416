import Deferred
import Foundation
import TestSupport
import Testing

/// Code for the archived library, as it was written. The tests are deprecated as well, so that nobody is told in here.
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
    @Test func `repeat tries again as often as it is told, after the first attempt`() async {
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

    @Test func `the new names are not ambiguous for it`() async throws {
        let failed = Task<Int>.failure(Failure.expected)
        #expect(try await failed.recover(upon: .any()) { _ in 1 }.value == 1)
        #expect(try await failed.recover { _ in 2 }.value == 2)
        #expect(try await Task.success(1).flatMap(upon: .main) { .success($0 + 2) }.value == 3)
        #expect(try await Task { 4 }.value == 4)
        Deferred(filledWith: 1).upon(.immediate) { #expect($0 == 1) }
    }
}
