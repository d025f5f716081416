import DeferredCore
import DeferredTask
import DeferredTesting
import Dispatch
import Foundation
import Synchronization
import TestSupport
import Testing

/// Tests of the cancellation table, row by row, for each operator. Combining and waiting operators have separate
/// suites.
///
/// | when `cancel()` comes | test |
/// |---|---|
/// | twice, or from many threads | `cancel twice, or from many threads: handlers run once` |
/// | with several handlers | `handlers run newest first, outside any lock, unless they were removed` |
/// | before the work starts | `cancel before the work starts: it is not started, and the task fails` |
/// | on a derived task | `cancel on a derived task: the upstream is cancelled, the closure never runs, …` |
/// | while `flatMap`'s inner task runs | `cancel while the inner task runs: the inner task is cancelled` |
/// | on one of several consumers of `shared()` | `SharedTests` |
/// | after the task ended | `cancel after the end: nothing happens, and handlers were released` |
/// | a handler registered after cancelling | `a handler registered after cancelling runs at once` |
/// | a handler registered after the end | `a handler registered after the end is dropped` |
@Suite(.ownThread, .timeLimit(.minutes(5)))
struct TaskCancelTests {
    private typealias Producer = Deferred<Task<Int>.Result>

    /// All operators that derive a task, by name.
    private static let operators: [(name: String, derive: @Sendable (Task<Int>, Log<String>) -> Task<Int>)] = [
        (
            "map",
            { task, log in
                task.map {
                    log.add("closure")
                    return $0
                }
            }
        ),
        (
            "flatMap",
            { task, log in
                task.flatMap {
                    log.add("closure")
                    return .success($0)
                }
            }
        ),
        (
            "recover",
            { task, log in
                task.recover { _ in
                    log.add("closure")
                    return 0
                }
            }
        ),
        (
            "fallback",
            { task, log in
                task.fallback { _ in
                    log.add("closure")
                    return .success(0)
                }
            }
        ),
    ]

    @Test func `handlers are called newest first, however deeply the cancellation nests`() {
        for depth in 1...40 {
            let log = Log<Int>()
            let task = Task<Int>(.never) { log.add(1) }
            for number in 2...3 { task.uponCancel { log.add(number) } }
            let futures = (0..<depth).map { _ in Deferred<Void>() }
            for (one, next) in zip(futures, futures.dropFirst()) { one.upon(.immediate) { next.fill() } }
            futures[depth - 1].upon(.immediate) { task.cancel() }
            futures[0].fill()
            #expect(log.entries == [3, 2, 1], "\(depth)")
        }
    }

    @Test func `cancel twice, or from many threads: handlers run once`() {
        for _ in 0..<500 {
            let (producer, log) = (Producer(), Log<String>())
            let task = Task(producer) { log.add("handler") }
            race(4) { _ in task.cancel() }
            task.cancel()
            #expect(log.entries == ["handler"])
            #expect(task.isCancelled)
        }
    }

    @Test func `cancel is a request: the producer decides how the task ends`() throws {
        let producer = Producer()
        let task = Task(producer) {}
        task.cancel()
        #expect(task.peek() == nil)
        producer.succeed(with: 5)
        #expect(try task.peek()?.get() == 5)
        #expect(task.isCancelled)
    }

    @Test func `handlers run newest first, outside any lock, unless they were removed`() {
        let (producer, log) = (Producer(), Log<String>())
        let task = Task(producer) { log.add("first") }
        task.uponCancel { log.add("second") }
        let third = task.uponCancel { log.add("third") }
        task.uponCancel {
            log.add("fourth")
            task.cancel()
            task.uponCancel { log.add("within") }
        }
        third.cancel()
        task.cancel()
        #expect(log.entries == ["fourth", "within", "second", "first"])
        producer.fail(with: CancellationError())
    }

    @Test func `a handler registered after cancelling runs at once`() {
        let (producer, log) = (Producer(), Log<String>())
        let task = Task(producer).map { $0 }
        let root = Task(producer)
        root.cancel()
        root.uponCancel { log.add("handler") }
        #expect(log.entries == ["handler"])
        task.cancel()
        producer.fail(with: CancellationError())
    }

    @Test func `a handler registered after the end is dropped`() {
        let lifetimes = Lifetimes()
        for isCancelled in [false, true] {
            let (producer, log) = (Producer(), Log<String>())
            let task = Task(producer)
            if isCancelled { task.cancel() }
            producer.succeed(with: 1)
            task.uponCancel { [token = lifetimes.make()] in
                token.touch()
                log.add("handler")
            }
            task.cancel()
            #expect(log.entries.isEmpty)
            #expect(lifetimes.count == 0)
        }
        Task.success(1).uponCancel { [token = lifetimes.make()] in token.touch() }
        #expect(lifetimes.count == 0)
    }

    @Test func `registered handlers are released at the end, and with the last canceller`() {
        let lifetimes = Lifetimes()
        let producer = Producer()
        let task = Task(producer)
        task.uponCancel { [token = lifetimes.make()] in token.touch() }
        producer.succeed(with: 1)
        #expect(lifetimes.count == 0)
        #expect(!task.isCancelled)
        let other = Producer()
        Task(other).uponCancel { [token = lifetimes.make()] in
            token.touch()
            other.fail(with: CancellationError())
        }
        #expect(lifetimes.count == 0)
    }

    @Test func `registrations race with cancels and ends: each runs at most once, and none is kept`() {
        for _ in 0..<1_000 {
            let (producer, log, lifetimes) = (Producer(), Log<String>(), Lifetimes())
            let task = Task(producer)
            race(4) { thread in
                switch thread {
                case 0: task.cancel()
                case 1: producer.succeed(with: 1)
                default:
                    task.uponCancel { [token = lifetimes.make()] in
                        token.touch()
                        log.add("\(thread)")
                    }
                }
            }
            #expect(Set(log.entries).count == log.entries.count)
            #expect(lifetimes.count == 0)
            #expect(task.isCancelled || log.entries.isEmpty)
        }
    }

    @Test func `a cancellation that is nested too deeply comes before the outermost fill returns`() {
        let (task, log) = (Task(Producer()), Log<Bool>())
        let futures = (0...40).map { _ in Deferred<Int>() }
        for index in 0..<40 { futures[index].upon(.immediate) { futures[index + 1].fill(with: $0) } }
        futures[40].upon(.immediate) { _ in task.cancel() }
        let outermost = Deferred<Int>()
        outermost.upon(.immediate) {
            futures[0].fill(with: $0)
            log.add(task.isCancelled)
        }
        outermost.fill(with: 0)
        #expect(log.entries == [false])
        #expect(task.isCancelled)
    }

    @Test func `cancel before the work starts: it is not started, and the task fails`() async {
        let (queue, log) = (DispatchQueue(label: "held"), Log<String>())
        queue.suspend()
        let task = Task.async(on: queue) { log.add("work") }
        let custom = Task.async(on: queue, onCancel: Failure.custom) { log.add("work") }
        task.cancel()
        custom.cancel()
        await #expect(throws: CancellationError.self) { try await task.value }
        await #expect(throws: Failure.custom) { try await custom.value }
        queue.resume()
        await Task.async(on: queue) {}.ended()
        #expect(log.entries.isEmpty)
    }

    @Test func `cancel on a derived task: the upstream is cancelled, the closure never runs, the stage fails`() {
        for (name, derive) in Self.operators {
            for ending in [Task<Int>.Result.success(1), .failure(Failure.custom)] {
                let (producer, log) = (Producer(), Log<String>())
                let upstream = Task(producer) { log.add("handler") }
                let task = derive(derive(upstream, log), log)
                task.cancel()
                #expect(task.peek().failure is CancellationError, "\(name)")
                #expect(task.isCancelled && upstream.isCancelled, "\(name)")
                #expect(log.entries == ["handler"], "\(name)")
                producer.fill(with: ending)
                #expect(log.entries == ["handler"], "\(name)")
                #expect(upstream.peek() != nil)
            }
        }
    }

    @Test func `a cancelled stage fails with its own error, not with its upstream's`() {
        for (name, derive) in Self.operators {
            let (producer, log) = (Producer(), Log<String>())
            let task = derive(Task(producer) { producer.fail(with: Failure.custom) }, log)
            task.cancel()
            #expect(task.peek().failure is CancellationError, "\(name)")
            #expect(log.entries.isEmpty, "\(name)")
        }
    }

    @Test func `cancel while the closure waits for its executor: it never runs`() {
        let executor = ManualExecutor()
        let log = Log<String>()
        let lifetimes = Lifetimes()
        let producer = Producer()
        let task = Task(producer).map(on: executor) { [token = lifetimes.make()] value in
            token.touch()
            log.add("closure")
            return value
        }
        producer.succeed(with: 1)
        #expect(lifetimes.count == 1)
        task.cancel()
        #expect(task.peek().failure is CancellationError)
        #expect(lifetimes.count == 0)
        executor.runAll()
        #expect(log.entries.isEmpty)
    }

    @Test func `cancel while the closure runs: its result stands`() throws {
        let producer = Producer()
        let box = Lock<Task<Int>?>(nil)
        let task = Task(producer).map { value in
            box.withLock { $0 }?.cancel()
            return value + 1
        }
        box.withLock { $0 = task }
        producer.succeed(with: 1)
        #expect(try task.peek()?.get() == 2)
        box.withLock { $0 = nil }
    }

    @Test func `cancel while the inner task runs: the inner task is cancelled`() {
        for isFallback in [false, true] {
            let (producer, inner, log) = (Producer(), Producer(), Log<String>())
            let innerTask: @Sendable () -> Task<Int> = {
                Task(inner) {
                    log.add("inner")
                    inner.fail(with: Failure.custom)
                }
            }
            let upstream = Task(producer)
            let task = isFallback ? upstream.fallback { _ in innerTask() } : upstream.flatMap { _ in innerTask() }
            producer.fill(with: isFallback ? .failure(CancellationError()) : .success(1))
            #expect(task.peek() == nil)
            task.cancel()
            #expect(log.entries == ["inner"])
            #expect(task.peek().failure as? Failure == .custom)
            #expect(task.isCancelled)
        }
    }

    @Test func `cancel while the closure of flatMap runs: the inner task is cancelled when it starts`() {
        let (producer, inner, log) = (Producer(), Producer(), Log<String>())
        let box = Lock<Task<Int>?>(nil)
        let task = Task(producer).flatMap { _ -> Task<Int> in
            box.withLock { $0 }?.cancel()
            return Task(inner) { log.add("inner") }
        }
        box.withLock { $0 = task }
        producer.succeed(with: 1)
        #expect(log.entries == ["inner"])
        box.withLock { $0 = nil }
    }

    @Test func `cancel after the end: nothing happens, and handlers were released`() {
        let lifetimes = Lifetimes()
        for (name, derive) in Self.operators {
            let (producer, log) = (Producer(), Log<String>())
            let root = Task(producer) { [token = lifetimes.make()] in
                token.touch()
                log.add("handler")
            }
            let task = derive(root, Log())
            producer.succeed(with: 1)
            #expect(lifetimes.count == 0, "\(name)")
            task.cancel()
            root.cancel()
            #expect(!task.isCancelled && !root.isCancelled, "\(name)")
            #expect(log.entries.isEmpty, "\(name)")
        }
        let done = Task.success(1)
        done.cancel()
        #expect(!done.isCancelled)
    }

    @Test func `no lock is held while handlers run`() {
        let box = Lock<Task<Int>?>(nil)
        let producer = Producer()
        let task = Task(producer) {
            let task = box.withLock { $0 }
            #expect(task?.isCancelled == true)
            task?.cancel()
            _ = task?.map { $0 }
            producer.fail(with: CancellationError())
        }
        box.withLock { $0 = task }
        task.cancel()
        #expect(task.peek().failure is CancellationError)
        box.withLock { $0 = nil }
    }

    @Test func `a handler may refer to the future it fills: dropping all frees all`() {
        let lifetimes = Lifetimes()
        do {
            let producer = Producer()
            let task = Task(producer) { [token = lifetimes.make()] in
                token.touch()
                producer.fail(with: CancellationError())
            }
            let derived = task.map { [token = lifetimes.make()] value in
                token.touch()
                return value
            }
            let flat = derived.flatMap { [token = lifetimes.make()] value in
                token.touch()
                return .success(value)
            }
            #expect(lifetimes.count == 3)
            withExtendedLifetime(flat) {}
        }
        #expect(lifetimes.count == 0)
    }

    @Test func `a running flatMap is freed with its inner task`() {
        let lifetimes = Lifetimes()
        do {
            let (producer, inner) = (Producer(), Producer())
            let task = Task(producer).flatMap { _ in
                Task(inner) { [token = lifetimes.make()] in
                    token.touch()
                    inner.fail(with: CancellationError())
                }
            }
            producer.succeed(with: 1)
            #expect(lifetimes.count == 1)
            withExtendedLifetime(task) {}
        }
        #expect(lifetimes.count == 0)
    }

    @Test func `a task that ended keeps neither its handlers nor the values upstream`() {
        let lifetimes = Lifetimes()
        let task = {
            let producer = Deferred<Task<Lifetimes.Token>.Result>()
            let task = Task(producer).map { _ in 1 }
            producer.succeed(with: lifetimes.make())
            return task
        }()
        #expect(lifetimes.count == 0)
        #expect(task.peek() != nil)
    }

    @Test func `100,000 tasks over one unfilled future leave nothing with it`() {
        let producer = Producer()
        for _ in 0..<100_000 { _ = Task(producer) {} }
        #expect(!producer.isFilled)
        let log = Log<Int>()
        producer.upon(.immediate) { _ in log.add(1) }
        producer.succeed(with: 1)
        #expect(log.entries == [1])
    }

    @Test func `a chain of 100,000 tasks is filled, cancelled, and dropped`() {
        for action in 0..<3 {
            let producer = Producer()
            let log = Log<String>()
            var task = Task(producer) { log.add("handler") }
            for _ in 0..<100_000 { task = task.map { $0 + 1 } }
            switch action {
            case 0:
                producer.succeed(with: 0)
                #expect((try? task.peek()?.get()) == 100_000)
            case 1:
                task.cancel()
                #expect(log.entries == ["handler"])
                #expect(task.peek().failure is CancellationError)
            default:
                break
            }
        }
    }

    @Test func `a recursive flatMap of 12,000 turns ends, is cancelled, and is dropped`() {
        @Sendable func count(to end: Int, from start: Int, _ wait: @escaping @Sendable (Int) -> Task<Int>) -> Task<Int>
        {
            wait(start).flatMap { $0 == end ? .success($0) : count(to: end, from: $0 + 1, wait) }
        }
        #expect(count(to: 12_000, from: 0) { .success($0) }.valueNow == 12_000)

        let executor = ManualExecutor()
        let queued: @Sendable (Int) -> Task<Int> = { Task.success($0).map(on: executor) { $0 } }
        let task = count(to: 12_000, from: 0, queued)
        executor.runAll()
        #expect(task.valueNow == 12_000)

        let cancelled = count(to: .max, from: 0, queued)
        let dropped = Lock<Task<Int>?>(count(to: .max, from: 0, queued))
        for _ in 0..<24_000 { executor.run() }
        #expect(abs(cancelled.progress.fractionCompleted) <= 1)
        cancelled.cancel()
        #expect(cancelled.failureNow is CancellationError)
        dropped.withLock { $0 = nil }
        executor.removeAll()
    }

    @Test func `cancels race with ends: handlers run at most once, and results are whole`() {
        for _ in 0..<3_000 {
            let (producer, log) = (Producer(), Log<String>())
            let root = Task(producer) { log.add("handler") }
            let task = root.map { $0 + 1 }.flatMap { .success($0 + 1) }
            race(3) { thread in
                switch thread {
                case 0: producer.succeed(with: 1)
                case 1: task.cancel()
                default: root.cancel()
                }
            }
            #expect(log.entries.count <= 1)
            switch task.peek() {
            case .success(let value): #expect(value == 3)
            case .failure(let error): #expect(error is CancellationError)
            case nil: Issue.record("the task has not ended")
            }
        }
    }

    @Test func `controls race with the ends that refer to them`() {
        for _ in 0..<3_000 {
            let producer = Producer()
            let task = Lock<Task<Int>?>(Task(producer).map { $0 + 1 })
            race(2) { thread in
                if thread == 0 { producer.succeed(with: 1) } else { _ = task.withLock { $0.take() } }
            }
        }
    }
}

private enum Failure: Error { case custom }

extension Optional where Wrapped == Task<Int>.Result {
    fileprivate var failure: (any Error)? {
        if case .failure(let error) = self { error } else { nil }
    }
}

extension Task {
    fileprivate func ended() async { _ = await result }
}
