import DeferredCore
import DeferredTask
import DeferredTesting
import Foundation
import TestSupport
import Testing

@Suite(.ownThread, .timeLimit(.minutes(5)))
struct TaskAlwaysTests {
    private enum Failure: Error { case first, second }
    private typealias Producer = Deferred<Task<Int>.Result>

    private static func name(_ result: Task<Int>.Result?) -> String {
        switch result {
        case nil: "nothing"
        case .success(let value): "\(value)"
        case .failure(let error): "\(error)"
        }
    }

    // MARK: always

    @Test func `the closure sees each result, and the task ends with that`() {
        for ending in [Task<Int>.Result.success(1), .failure(Failure.first)] {
            for isEarly in [true, false] {
                let (producer, log) = (Producer(), Log<String>())
                if !isEarly { producer.fill(with: ending) }
                let task = Task(producer).always { log.add("always \(Self.name($0))") }
                task.upon(.immediate) { log.add("upon \(Self.name($0))") }
                if isEarly { producer.fill(with: ending) }
                #expect(log.entries == ["always \(Self.name(ending))", "upon \(Self.name(ending))"])
            }
        }
    }

    @Test func `on an executor, the task ends when the closure has run there`() {
        let (producer, log, executor) = (Producer(), Log<String>(), ManualExecutor())
        let task = Task(producer).always(on: executor) { log.add(Self.name($0)) }
        producer.fail(with: Failure.first)
        #expect(task.peek() == nil && log.entries.isEmpty)
        executor.runAll()
        #expect(task.failureNow as? Failure == .first)
        #expect(log.entries == ["first"])
    }

    @Test func `a cancellation goes upstream, and the closure sees the result`() {
        for ending in [Task<Int>.Result.success(1), .failure(Failure.second)] {
            let (producer, log) = (Producer(), Log<String>())
            let task = Task(producer) { log.add("cancel") }.always { log.add("always \(Self.name($0))") }
            task.cancel()
            #expect(task.isCancelled && task.peek() == nil)
            producer.fill(with: ending)
            #expect(log.entries == ["cancel", "always \(Self.name(ending))"])
            #expect(Self.name(task.peek()) == Self.name(ending))
        }
    }

    @Test func `an asynchronous closure is waited for, and outlives a cancellation`() async {
        for ending in [Task<Int>.Result.success(1), .failure(Failure.first)] {
            let (producer, log, gate) = (Producer(), Log<String>(), Deferred<Void>())
            let started = Deferred<Void>()
            let task = Task(producer) { log.add("cancel") }.always { result in
                started.fill()
                await gate.value
                log.add("\(Self.name(result)) \(_Concurrency.Task.isCancelled)")
            }
            task.cancel()
            producer.fill(with: ending)
            await started.value
            task.cancel()
            #expect(task.peek() == nil)
            gate.fill()
            #expect(Self.name(await task.result) == Self.name(ending))
            #expect(log.entries == ["cancel", "\(Self.name(ending)) false"])
        }
    }

    @Test func `it runs after the cancelled stage before it, and the last one runs first`() {
        let (log, producer) = (Log<String>(), Producer())
        let task = Task(producer).map { $0 }.always { log.add("one \(Self.name($0))") }.map { $0 }
            .always { log.add("two \(Self.name($0))") }
        task.cancel()
        #expect(log.entries == ["two CancellationError()", "one CancellationError()"])
        #expect(task.failureNow is CancellationError)
        #expect(!producer.isFilled)
    }

    @Test func `a cancellation while the closure waits for its executor takes nothing from it`() {
        let (producer, log, executor) = (Producer(), Log<String>(), ManualExecutor())
        let task = Task(producer).always(on: executor) { log.add(Self.name($0)) }
        producer.succeed(with: 1)
        task.cancel()
        #expect(task.peek() == nil)
        executor.runAll()
        #expect(task.valueNow == 1 && task.isCancelled)
        #expect(log.entries == ["1"])
    }

    @Test func `the closure runs once, and always, however a cancellation races with the end`() {
        for _ in 0..<2_000 {
            let (producer, log) = (Producer(), Log<String>())
            let task = Task(producer).map { $0 }.always { log.add(Self.name($0)) }
            race(2) { if $0 == 0 { task.cancel() } else { producer.succeed(with: 1) } }
            #expect(log.entries.count == 1)
            #expect(log.entries == [Self.name(task.peek())])
        }
    }

    @Test func `it counts 1 in the progress`() {
        let (producer, reporter) = (Producer(), ProgressReporter())
        let task = Task(producer, reporter: reporter).always { _ in }
        let progress = task.progress
        reporter.report(completed: 1, of: 2)
        #expect(abs(progress.fractionCompleted - 5.0 / 11) < 1e-6)
        producer.succeed(with: 1)
        #expect(progress.fractionCompleted == 1)
    }

    @Test func `nothing is kept after the end, or when the future is lost`() {
        let lifetimes = Lifetimes()
        for isLost in [false, true] {
            var producer: Producer? = Producer()
            let task = Task(producer!).always { [token = lifetimes.make()] _ in token.touch() }
            task.upon(.immediate) { [token = lifetimes.make()] _ in token.touch() }
            #expect(lifetimes.count == 2)
            if !isLost { producer?.succeed(with: 1) }
            producer = nil
            // The handler keeps waiting, since the task may still be cancelled.
            #expect(lifetimes.count == (isLost ? 1 : 0))
            task.cancel()
            #expect(lifetimes.count == 0)
            #expect(isLost ? task.failureNow is CancellationError : task.valueNow == 1)
        }
    }

    @Test func `one that was cancelled ends when its future is lost, whichever comes first`() {
        let producer = Lock<Producer?>(Producer())
        let task = producer.withLock { Task($0!, uponCancel: { producer.withLock { $0 = nil } }) }.always { _ in }
        task.cancel()
        #expect(task.failureNow is CancellationError)
        for _ in 0..<2_000 {
            let producer = Lock<Producer?>(Producer())
            let task = producer.withLock { Task($0!) }.always { _ in }
            race(2) { if $0 == 0 { task.cancel() } else { withExtendedLifetime(producer.withLock { $0.take() }) {} } }
            #expect(task.failureNow is CancellationError)
        }
    }

    @Test func `an executor that drops the closure releases it`() {
        struct Dropping: Executor {
            func submit(_ body: @escaping @Sendable () -> Void) {}
        }
        let (lifetimes, producer) = (Lifetimes(), Producer())
        let task = Task(producer).always(on: Dropping()) { [token = lifetimes.make()] _ in token.touch() }
        producer.succeed(with: 1)
        #expect(lifetimes.count == 0)
        #expect(task.peek() == nil)
        task.cancel()
        #expect(task.failureNow is CancellationError)
    }

    @Test func `a chain of 100,000 is filled and cancelled on a small stack`() async {
        let ends = await onThread(stackSize: 512 << 10) {
            [false, true].map { isCancelled in
                let producer = Producer()
                var task = Task(producer, uponCancel: { producer.fail(with: CancellationError()) })
                for _ in 0..<100_000 { task = task.always { _ in } }
                if isCancelled { task.cancel() } else { producer.succeed(with: 1) }
                return Self.name(task.peek())
            }
        }
        #expect(ends == ["1", "CancellationError()"])
    }

    // MARK: mapError

    @Test func `errors are mapped, and values pass by`() {
        for isEarly in [true, false] {
            func map(_ ending: Task<Int>.Result) -> String {
                let producer = Producer()
                if !isEarly { producer.fill(with: ending) }
                let task = Task(producer).mapError { error in
                    if error is CancellationError { throw Failure.second }
                    return error as? Failure == .first ? Failure.second : Failure.first
                }
                if isEarly { producer.fill(with: ending) }
                return Self.name(task.peek())
            }
            #expect(map(.success(1)) == "1")
            #expect(map(.failure(Failure.first)) == "second")
            #expect(map(.failure(Failure.second)) == "first")
            #expect(map(.failure(CancellationError())) == "second")
        }
    }

    @Test func `on an executor, only errors wait for it`() {
        let executor = ManualExecutor()
        #expect(Task.success(1).mapError(on: executor) { _ in Failure.first }.valueNow == 1)
        let failed = Task<Int>.failure(Failure.first).mapError(on: executor) { _ in Failure.second }
        #expect(failed.peek() == nil)
        executor.runAll()
        #expect(failed.failureNow as? Failure == .second)
    }

    @Test func `cancelling cancels the task before, and the error of the cancellation is not mapped`() {
        let (lifetimes, log) = (Lifetimes(), Log<String>())
        let task = Task(Producer()) { log.add("cancel") }
            .mapError { [token = lifetimes.make()] _ in
                token.touch()
                return Failure.first
            }
        task.cancel()
        #expect(task.failureNow is CancellationError)
        #expect(log.entries == ["cancel"])
        #expect(lifetimes.count == 0)
    }
}
