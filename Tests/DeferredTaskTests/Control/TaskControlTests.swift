import DeferredCore
import DeferredTask
import TestSupport
import Testing

@Suite("Task control", .ownThread, .timeLimit(.minutes(5)))
struct TaskControlTests {
    /// Holds the last reference to a task.
    private final class Holder: Sendable {
        private let task: Lock<Task<Int>?>

        init(_ task: Task<Int>) {
            self.task = Lock(task)
        }

        func drop() {
            _ = task.withLock { $0.take() }
        }
    }

    @Test func `a task can be dropped while it ends`() {
        let rounds = (0..<50_000).map { _ in
            let promise = Task<Int>.Promise()
            return (promise: promise, holder: Holder(Task(promise, reporter: ProgressReporter(), uponCancel: { _ in })))
        }
        let gate = Gate(2)
        race(2) { thread in
            for (index, (promise, holder)) in rounds.enumerated() {
                gate.pass()
                if thread == 0 {
                    promise.succeed(with: 1)
                } else {
                    // The end takes a while; each round interrupts it at another point.
                    for _ in 0..<(index % 100) { _ = promise.isFilled }
                    holder.drop()
                }
            }
        }
        #expect(rounds.allSatisfy { $0.promise.isFilled })
    }

    @Test func `a task that is held keeps neither value nor work of the one it was derived from`() async throws {
        let lifetimes = Lifetimes()
        func promised() -> Task<Int> {
            let promise = Task<Lifetimes.Token>.Promise()
            let task = Task(promise, uponCancel: { [token = lifetimes.make()] _ in token.touch() }).map { _ in 1 }
            promise.succeed(with: lifetimes.make())
            return task
        }
        let tasks = [
            promised(),
            Task { [made = lifetimes.make()] in made }.map { _ in 1 },
            Task<Lifetimes.Token>.detached { lifetimes.make() }.map { _ in 1 },
        ]
        for task in tasks { #expect(try await task.value == 1) }
        // Swift's own task releases its captures a moment after it has returned its result.
        try await eventually { lifetimes.count == 0 }
        withExtendedLifetime(tasks) {}
    }

    @Test func `a task that is held keeps nothing that the operators before it made`() {
        let lifetimes = Lifetimes()
        func derived() -> Task<Int> {
            let promise = Task<Int>.Promise()
            let task = Task(promise).map { _ in lifetimes.make() }.map { _ in 1 }
            promise.succeed(with: 0)
            return task
        }
        withExtendedLifetime(derived()) { #expect(lifetimes.count == 0) }
    }

    @Test func `a Swift task that ends while it is cancelled calls its handler once or never`() async throws {
        let lifetimes = Lifetimes()
        for round in 0..<5_000 {
            let calls = Log<Int>()
            let task = Task.detached { [token = lifetimes.make()] in
                token.touch()
                return round
            }
            task.uponCancel { [token = lifetimes.make()] in
                token.touch()
                calls.add(round)
            }
            if !round.isMultiple(of: 3) { await Task.yield() }
            task.cancel()
            task.cancel()
            #expect(calls.entries == (task.isCancelled ? [round] : []))
            #expect(try await task.value == round)
            #expect(calls.entries == (task.isCancelled ? [round] : []))
        }
        try await eventually { lifetimes.count == 0 }
    }
}
