import DeferredCore
import DeferredTask
import DeferredTesting
import TestSupport
import Testing

@Suite(.ownThread, .timeLimit(.minutes(5)))
struct TimeoutTests {
    private typealias Producer = Deferred<Task<Int>.Result>

    @Test func `a task that ends in time keeps its result, and no clock waits any longer`() async throws {
        let (producer, clock, log) = (Producer(), ManualClock(), Log<String>())
        let task = Task(producer) { log.add("handler") }.timeout(after: .seconds(3), clock: clock)
        try await clock.waitForSleepers()
        producer.succeed(with: 5)
        #expect(task.valueNow == 5)
        try await eventually { clock.sleeperCount == 0 }
        #expect(log.entries.isEmpty)
    }

    @Test func `at the deadline it fails, cancels, and does not wait for a stubborn producer`() async throws {
        let (producer, clock, log) = (Producer(), ManualClock(), Log<String>())
        let task = Task(producer) { log.add("handler") }.timeout(after: .seconds(3), clock: clock)
        try await clock.waitForSleepers()
        clock.advance(by: .milliseconds(2_999))
        #expect(task.peek() == nil)
        clock.advance(by: .milliseconds(1))
        await #expect(throws: TimeoutError(duration: .seconds(3))) { try await task.value }
        #expect(log.entries == ["handler"])
        #expect(!producer.isFilled)
        #expect("\(TimeoutError(duration: .seconds(3)))" == "the task did not end within 3.0 seconds")
    }

    @Test func `cancelling it cancels the task and the clock, and ends it at once`() async throws {
        let (producer, clock, log) = (Producer(), ManualClock(), Log<String>())
        let task = Task(producer) { log.add("handler") }.timeout(after: .seconds(3), clock: clock)
        try await clock.waitForSleepers()
        task.cancel()
        #expect(task.failureNow is CancellationError)
        #expect(log.entries == ["handler"])
        try await eventually { clock.sleeperCount == 0 }
    }

    @Test func `a task that has ended needs no clock`() {
        let clock = ManualClock()
        #expect(Task.success(1).timeout(after: .zero, clock: clock).valueNow == 1)
        #expect(clock.sleeperCount == 0)
    }

    @Test func `a real clock does, too`() async {
        await #expect(throws: TimeoutError.self) { try await Task<Int>.never.timeout(after: .zero).value }
    }

    @Test func `its progress is that of the task`() {
        let (producer, reporter, clock) = (Producer(), ProgressReporter(), ManualClock())
        let log = Log<Double>()
        let task = Task(producer, reporter: reporter).timeout(after: .seconds(1), clock: clock)
        task.uponProgress(on: .immediate) { log.add($0.fraction) }
        reporter.report(completed: 1, of: 2)
        producer.succeed(with: 1)
        #expect(log.entries.prefix(2) == [0, 0.5])
        #expect(log.entries.last == 1)
    }

    @Test func `when it fails, the task has been cancelled, and its own handlers are not called`() async throws {
        let (producer, clock, log) = (Producer(), ManualClock(), Log<String>())
        let source = Task(producer) { log.add("source") }
        let task = source.map { $0 }.timeout(after: .seconds(1), clock: clock)
        task.uponCancel { log.add("time-out") }
        task.upon(.immediate) { _ in log.add("end") }
        try await clock.waitForSleepers()
        clock.advance(by: .seconds(1))
        await #expect(throws: TimeoutError.self) { try await task.value }
        try await eventually { log.entries == ["source", "end"] }
        #expect(source.isCancelled && !task.isCancelled)
    }

    @Test func `cancelled while the task's handlers run, it calls its own, and its error stays`() async throws {
        let (producer, clock, log) = (Producer(), ManualClock(), Log<String>())
        let itself = Lock<Task<Int>?>(nil)
        let source = Task(producer) {
            log.add("source")
            itself.withLock { $0.take() }?.cancel()
        }
        let task = source.timeout(after: .seconds(1), clock: clock)
        task.uponCancel { log.add("time-out") }
        itself.withLock { $0 = task }
        try await clock.waitForSleepers()
        clock.advance(by: .seconds(1))
        await #expect(throws: TimeoutError.self) { try await task.value }
        #expect(log.entries == ["source", "time-out"] && task.isCancelled)
    }

    @Test func `nobody has to hold it`() async throws {
        let (producer, clock, log) = (Producer(), ManualClock(), Log<String>())
        do {
            let source = Task(producer) { log.add("source") }
            _ = source.timeout(after: .seconds(1), clock: clock).map { $0 }
        }
        try await clock.waitForSleepers()
        clock.advance(by: .seconds(1))
        try await eventually { log.entries == ["source"] }
    }

    @Test func `of consumers, the last one that runs out of time cancels the task`() async throws {
        let (producer, clock) = (Producer(), ManualClock())
        let source = Task(producer)
        let consumer = source.shared()
        let (first, second) = (
            consumer.timeout(after: .seconds(1), clock: clock), consumer.timeout(after: .seconds(2), clock: clock)
        )
        try await clock.waitForSleepers(2)
        clock.advance(by: .seconds(1))
        await #expect(throws: TimeoutError.self) { try await first.value }
        #expect(!source.isCancelled && !second.isFilled)
        clock.advance(by: .seconds(1))
        await #expect(throws: TimeoutError.self) { try await second.value }
        #expect(source.isCancelled)
    }

    @Test(arguments: ["fill", "cancel", "lose", "run out"])
    func `100,000 of one another take no more stack than one`(end: String) async throws {
        let (clock, log) = (ManualClock(), Log<String>())
        var promise: Task<Int>.Promise? = Task<Int>.Promise()
        var task = Task(try #require(promise)) { (_: Task<Int>.Promise) in log.add("source") }
            .timeout(after: .seconds(1), clock: clock)
        for _ in 0..<100_000 { task = task.timeout(after: .seconds(3_600)) }
        switch end {
        case "fill":
            promise?.succeed(with: 1)
            #expect(task.valueNow == 1)
        case "cancel":
            task.cancel()
            #expect(task.failureNow is CancellationError && log.entries == ["source"])
        case "lose":
            promise = nil
            #expect(task.failureNow is BrokenPromise)
        default:
            try await clock.waitForSleepers()
            clock.advance(by: .seconds(1))
            await #expect(throws: TimeoutError.self) { try await task.value }
            #expect(log.entries == ["source"])
        }
        withExtendedLifetime(promise) {}
    }

    @Test func `a fill, the deadline and a cancellation race for one end`() async throws {
        var ends: [Log<Task<Int>.Result>] = []
        for round in 0..<200 {
            let (producer, log, ended) = (Producer(), Log<String>(), Log<Task<Int>.Result>())
            let task = Task(producer) { log.add("source") }.timeout(after: .microseconds(round % 50))
            task.upon(.immediate) { ended.add($0) }
            async let fill: Void = Future.async(on: .any()) { producer.succeed(with: 1) }.value
            async let cancel: Void = Future.async(on: .any()) { task.cancel() }.value
            _ = await (fill, cancel, task.result)
            ends.append(ended)
            switch task.peek() {
            case .success(1): break
            case .failure(let error): #expect(error is TimeoutError || error is CancellationError)
            default: Issue.record("no end")
            }
            #expect(log.entries.count <= 1)
        }
        // Who awaits the result may continue before the handlers.
        try await eventually { ends.allSatisfy { $0.entries.count == 1 } }
    }

    #if os(macOS) || os(Linux)
    @Test func `rounds against a task that never ends keep memory flat`() async throws {
        await #expect(processExitsWith: .success) {
            let (producer, clock) = (Deferred<Task<Int>.Result>(), ManualClock())
            let endless = Task(producer)
            let rest = endless.shared()
            func rounds(_ count: Int) async throws {
                for _ in 0..<count / 100 {
                    let tasks = (0..<100).map { _ in endless.shared().timeout(after: .seconds(1), clock: clock) }
                    try await clock.waitForSleepers(100)
                    clock.advance(by: .seconds(1))
                    for task in tasks { _ = await task.result }
                }
            }
            try await rounds(2_000)
            let before = residentMemory()
            try await rounds(20_000)
            let growth = residentMemory() - before
            // A sanitizer keeps a history, which can be of any size.
            precondition(growth < 4 << 20 || isSanitized, "\(growth) bytes more than before")
            precondition(rest.peek() == nil && !endless.isCancelled)
        }
    }
    #endif
}
