import Deferred
import Synchronization
import TestSupport
import Testing

/// An executor for Swift's actors and tasks, in a file that simply imports this library.
private final class Inline: SerialExecutor, TaskExecutor {
    func enqueue(_ job: consuming ExecutorJob) {
        UnownedJob(job).runSynchronously(
            isolatedTo: asUnownedSerialExecutor(),
            taskExecutor: asUnownedTaskExecutor()
        )
    }
}

/// An executor for both Swift's concurrency and this library.
private final class Both: SerialExecutor, Executor {
    let submissions = Atomic(0)

    func enqueue(_ job: consuming ExecutorJob) {
        UnownedJob(job).runSynchronously(on: asUnownedSerialExecutor())
    }

    func submit(_ body: @escaping @Sendable () -> Void) {
        submissions.add(1, ordering: .relaxed)
        body()
    }
}

private actor Counter {
    private let executor: any SerialExecutor
    private var count = 0

    init(on executor: any SerialExecutor) {
        self.executor = executor
    }

    nonisolated var unownedExecutor: UnownedSerialExecutor { executor.asUnownedSerialExecutor() }

    func next() -> Int {
        count += 1
        return count
    }
}

@Suite(.ownThread, .timeLimit(.minutes(1)))
struct SwiftConcurrencyExecutorsTests {
    @Test func `Swift's executors go by their names`() async throws {
        let inline = Inline()
        let counter = Counter(on: inline)
        #expect(await counter.next() == 1)
        let swifts: [any _Concurrency.Executor] = [inline, Both()]
        #expect(swifts.count == 2)
        #expect(await withTaskExecutorPreference(inline) { await counter.next() } == 2)
        #expect(try await Task { await counter.next() }.value == 3)
    }

    @Test func `the bare name is this library's`() async {
        let both = Both()
        let counter = Counter(on: both)
        #expect(await counter.next() == 1)
        let executor: any Executor = both
        #expect(Future(value: 1).map(on: executor) { $0 + 1 }.peek() == 2)
        #expect(both.submissions.load(ordering: .relaxed) == 1)
    }
}
