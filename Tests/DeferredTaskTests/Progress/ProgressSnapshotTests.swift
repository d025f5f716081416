import DeferredCore
import DeferredTesting
import TestSupport
import Testing

@testable import DeferredTask

@Suite(.ownThread, .timeLimit(.minutes(1)))
struct ProgressSnapshotTests {
    private func snapshot(
        _ fraction: Double,
        _ completed: Int64 = 0,
        of total: Int64? = nil,
        _ unit: ProgressReporter.Unit = .bytes,
        at throughput: Double? = nil
    ) -> ProgressSnapshot {
        ProgressSnapshot(fraction: fraction, completed: completed, total: total, unit: unit, throughput: throughput)
    }

    @Test func `it prints what is known`() {
        #expect("\(snapshot(0))" == "0 %")
        #expect(
            "\(snapshot(0.459, 1_200_000, of: 2_700_000, at: 300_000))"
                == "45 %, 1.20 MB of 2.70 MB, 300 kB/s, 0:05 left"
        )
        #expect("\(snapshot(0.5, 3, of: 6, .count, at: 1))" == "50 %, 3 of 6, 1/s, 0:03 left")
        #expect("\(snapshot(0, 1_200, at: 300))" == "0 %, 1.20 kB, 300 B/s")
        #expect("\(snapshot(1, 5, of: 5, .count, at: 2))" == "100 %, 5 of 5, 2/s")
        #expect("\(snapshot(0.999_999))" == "99 %" && "\(snapshot(1.0.nextDown))" == "99 %")
        for percent in 0...100 { #expect("\(snapshot(Double(percent) / 100))" == "\(percent) %") }
    }

    @Test func `time remains only where something moves and the end is known`() {
        #expect(snapshot(0.5, 50, of: 100, at: 10).estimatedTimeRemaining == .seconds(5))
        #expect(snapshot(0.5, 50, of: 100, at: 0).estimatedTimeRemaining == nil)
        #expect(snapshot(0.5, 50, of: 100).estimatedTimeRemaining == nil)
        #expect(snapshot(0.5, 50, at: 10).estimatedTimeRemaining == nil)
        #expect(snapshot(0.5, 150, of: 100, at: 10).estimatedTimeRemaining == .zero)
        #expect(snapshot(0.5, 0, of: .max, at: 1e-300).estimatedTimeRemaining == nil)
    }

    @Test func `amounts of all producers add up, bytes before items`() {
        let (bytes, more, items) = (ProgressReporter(unit: .bytes), ProgressReporter(unit: .bytes), ProgressReporter())
        bytes.report(completed: 10, of: 100)
        more.report(completed: 5, of: 50)
        items.report(completed: 1, of: 2)
        let tasks = [bytes, more, items].map { Task(Deferred<Task<Int>.Result>(), reporter: $0) }
        let task = tasks.allSucceeded()
        let known = current(of: task)
        #expect((known?.completed, known?.total, known?.unit) == (15, 150, .bytes))
        more.report(completed: 6, of: nil)
        let unknown = current(of: task)
        #expect((unknown?.completed, unknown?.total) == (16, nil))
        let single = current(of: tasks[2])
        #expect((single?.completed, single?.total, single?.unit, single?.fraction) == (1, 2, .count, 0.5))
    }

    @Test func `a task that reports nothing has no total`() {
        let snapshot = current(of: Task(Deferred<Task<Int>.Result>()))
        #expect((snapshot?.completed, snapshot?.total, snapshot?.unit) == (0, nil, .count))
    }

    @Test func `resumed bytes count as done, but not for the throughput`() {
        let clock = ManualClock()
        let (resumed, fresh) = (ProgressReporter(unit: .bytes), ProgressReporter(unit: .bytes))
        let task = [resumed, fresh].map { Task(Deferred<Task<Int>.Result>(), reporter: $0) }.allSucceeded()
        let log = Log<ProgressSnapshot>()
        _ = task.observeProgress(on: .immediate, clock: clock) { snapshot, _ in log.add(snapshot) }
        clock.advance(by: .seconds(1))
        resumed.report(completed: 400, of: 1_000, resumed: 400)
        fresh.report(completed: 100, of: 1_000)
        clock.advance(by: .seconds(1))
        resumed.add(100)
        let last = log.entries.last
        #expect((last?.completed, last?.total, last?.resumed) == (600, 2_000, 400))
        #expect(last?.throughput == 100)
        #expect(last?.estimatedTimeRemaining == .seconds(14))
        resumed.report(completed: 10, of: 1_000, resumed: 400)
        #expect(resumed.resumed == 10)
        resumed.report(completed: 0, of: nil, resumed: -1)
        #expect(resumed.resumed == 0)
    }

    @Test func `amounts stay when their tasks have ended`() {
        let producers = (0..<3).map { _ in Deferred<Task<Int>.Result>() }
        let reporters = (0..<3).map { _ in ProgressReporter(total: 10, unit: .bytes) }
        let task = (0..<3).mapTasks(maxConcurrent: 1) { Task(producers[$0], reporter: reporters[$0]) }
        reporters[0].report(completed: 10, of: 10)
        producers[0].succeed(with: 0)
        reporters[1].report(completed: 4, of: 10)
        let running = current(of: task)
        // The total of the third task is not known yet.
        #expect((running?.completed, running?.total) == (14, nil))
        reporters[1].report(completed: 10, of: 10)
        producers[1].succeed(with: 0)
        let last = current(of: task)
        #expect((last?.completed, last?.total) == (20, 30))
        reporters[2].report(completed: 10, of: 10)
        producers[2].succeed(with: 0)
        let ended = current(of: task)
        #expect((ended?.completed, ended?.total, ended?.fraction) == (30, 30, 1))
    }

    @Test func `amounts of an inner task stay when it has ended`() {
        let (outer, inner) = (Deferred<Task<Int>.Result>(), Deferred<Task<Int>.Result>())
        let reporter = ProgressReporter(unit: .bytes)
        let task = Task(outer).flatMap { _ in Task(inner, reporter: reporter) }.map { $0 }
        task.uponProgress(on: .immediate) { _ in }
        outer.succeed(with: 1)
        reporter.report(completed: 8, of: 8)
        inner.succeed(with: 1)
        let ended = current(of: task)
        #expect((ended?.completed, ended?.total, ended?.fraction) == (8, 8, 1))
    }

    @Test func `children that all count bytes are weighted by them, once all totals are known`() {
        let producers = (0..<2).map { _ in Deferred<Task<Int>.Result>() }
        let reporters = (0..<2).map { _ in ProgressReporter(unit: .bytes) }
        let make: @Sendable (Int) -> Task<Int> = { Task(producers[$0], reporter: reporters[$0]) }
        // A new task each time, since fractions never go back.
        func fraction(_ tasks: [Task<Int>]) -> Double? { current(of: tasks.allSucceeded())?.fraction }
        reporters[0].report(completed: 50, of: 100)
        #expect(fraction([make(0), make(1)]) == 0.25)
        reporters[1].report(completed: 0, of: 900)
        #expect(fraction([make(0), make(1)]) == 0.05)
        reporters[1].report(completed: 450, of: 900)
        #expect(fraction([make(0), make(1)]) == 0.5)
        let fanOut = (0..<2).mapTasks(maxConcurrent: 2) { make($0) }
        #expect(current(of: fanOut)?.fraction == 0.5)
        // A task that counts nothing, or something else.
        #expect(fraction([make(0), make(1), Task(Deferred<Task<Int>.Result>())]).map { $0 < 0.48 } == true)
        reporters[1].report(completed: 90, of: 900)
        let items = ProgressReporter(total: 1)
        #expect(fraction([make(0), make(1), Task(Deferred<Task<Int>.Result>(), reporter: items)]) == 0.2)
        // A task that has ended counts by its bytes, too.
        producers[0].succeed(with: 1)
        #expect(current(of: fanOut)?.fraction == 0.5)
        reporters[1].report(completed: 810, of: 900)
        #expect(current(of: fanOut).map { abs($0.fraction - 0.91) < 1e-8 } == true)
    }

    private func current(of task: Task<some Sendable>) -> ProgressSnapshot? {
        let snapshots = Lock<ProgressSnapshot?>(nil)
        task.uponProgress(on: .immediate) { snapshot in snapshots.withLock { $0 = snapshot } }.cancel()
        return snapshots.withLock { $0 }
    }
}
