import DeferredCore
import DeferredTask
import DeferredTesting
import Dispatch
import Foundation
import TestSupport
import Testing

/// Tests that a function can call itself through `flatMap` for ever.
@Suite(.ownThread, .timeLimit(.minutes(10)))
struct TaskFlatMapTests {
    enum Step: String, CaseIterable, Codable, Sendable {
        case filled, queued, promised, recovered, progressing, watched

        /// Returns a task that succeeds with `turn`, now or later.
        func start(_ turn: Int, _ waiting: Waiting) -> Task<Int> {
            switch self {
            case .filled: return .success(turn)
            case .queued: return .async(on: .global()) { turn }
            case .recovered: return Task<Int>.async(on: .global()) { throw CancellationError() }.recover { _ in turn }
            case .promised, .progressing, .watched:
                let promise = Task<Int>.Promise()
                let reporter = ProgressReporter(total: 1)
                reporter.report(completed: 1, of: 2)
                waiting.promise.withLock { $0 = (promise, turn) }
                return Task(promise, reporter: reporter, uponCancel: { $0.fail(with: CancellationError()) })
            }
        }
    }

    final class Waiting: Sendable {
        let promise = Lock<(Task<Int>.Promise, Int)?>(nil)

        /// Fulfils up to `turns` waiting steps, one after another.
        func drive(_ turns: Int) {
            for _ in 0..<turns {
                guard let (promise, turn) = promise.withLock({ $0.take() }) else { return }
                promise.succeed(with: turn)
            }
        }
    }

    private static func count(_ step: Step, _ turn: Int, to end: Int, _ waiting: Waiting) -> Task<Int> {
        step.start(turn, waiting).flatMap { turn in
            turn == end ? .success(turn) : count(step, turn + 1, to: end, waiting)
        }
    }

    #if os(macOS) || os(Linux)
    @Test(arguments: Step.allCases)
    func `a loop that is held runs in constant memory`(step: Step) async {
        await #expect(processExitsWith: .success) { [step] in
            let waiting = Waiting()
            func run(_ turns: Int) async throws {
                let task = Self.count(step, 0, to: turns, waiting)
                let progress = step == .progressing ? task.progress : nil
                let fractions = Log<Double>()
                if step == .watched { task.uponProgress(on: .immediate) { if $0.fraction == 1 { fractions.add(1) } } }
                waiting.drive(turns + 1)
                let value = try await task.value
                precondition(value == turns)
                precondition(progress?.fractionCompleted ?? 1 == 1 && task.progress.fractionCompleted == 1)
                precondition(fractions.entries == (step == .watched ? [1] : []))
            }
            // Foundation's objects are slow, and a turn that kept one would keep more than 70 bytes.
            let counts =
                switch step {
                case .filled: (50_000, 250_000)
                case .queued, .promised, .recovered: (20_000, 60_000)
                case .progressing, .watched: (5_000, 30_000)
                }
            let (few, many) = isSanitized ? (200, 1_000) : counts
            try await run(few)
            let limit = [.filled, .queued, .recovered].contains(step) ? 5 << 20 : 2 << 20
            let growth = try await leastGrowth(below: limit) { try await run(many * $0) }
            precondition(growth < limit || isSanitized, "\(growth) bytes more than before")
        }
    }

    @Test func `a loop with delays runs in constant memory`() async {
        await #expect(processExitsWith: .success) {
            @Sendable func poll(_ turn: Int, _ end: Int) -> Task<Int> {
                Task.success(turn).delay(for: .zero).flatMap { $0 == end ? .success($0) : poll($0 + 1, end) }
            }
            _ = try await poll(0, isSanitized ? 100 : 2_000).value
            let growth = try await leastGrowth(below: 5 << 20) {
                _ = try await poll(0, (isSanitized ? 500 : 50_000) * $0).value
            }
            precondition(growth < 5 << 20 || isSanitized, "\(growth) bytes more than before")
        }
    }

    @Test func `a loop that falls back for ever runs in constant memory`() async {
        await #expect(processExitsWith: .success) {
            @Sendable func attempt(_ turn: Int, _ end: Int) -> Task<Int> {
                Task<Int>.async(on: .global()) { throw CancellationError() }
                    .fallback { _ in turn == end ? .success(turn) : attempt(turn + 1, end) }
            }
            _ = try await attempt(0, isSanitized ? 100 : 30_000).value
            let growth = try await leastGrowth(below: 12 << 20) {
                _ = try await attempt(0, (isSanitized ? 500 : 200_000) * $0).value
            }
            precondition(growth < 12 << 20 || isSanitized, "\(growth) bytes more than before")
        }
    }
    #endif

    @Test(arguments: [0, 1, 2, 31, 32, 33, 1_000])
    func `a loop is cancelled at any turn`(turn: Int) {
        let waiting = Waiting()
        let log = Log<Int>()
        let task = Self.count(.promised, 0, to: 10_000, waiting)
        let derived = task.map { log.add($0) }
        waiting.drive(turn)
        #expect(waiting.promise.withLock { $0?.1 } == turn)
        task.cancel()
        #expect(task.isCancelled)
        #expect(task.failureNow is CancellationError)
        #expect(derived.isFilled)
        #expect(waiting.promise.withLock { $0?.0.isFilled } == true)
        #expect(log.entries == [])
    }

    @Test func `a turn with its own token, or that is held, is not skipped`() {
        let waiting = Waiting()
        let source = CancellationTokenSource()
        let log = Log<String>()
        let promise = Task<Int>.Promise()
        let outer = Task(promise).flatMap { turn in
            let inner = Self.count(.promised, turn, to: 100, waiting).cancelled(by: source.token)
            inner.uponCancel { log.add("inner") }
            return inner
        }
        promise.succeed(with: 0)
        waiting.drive(10)
        source.cancel()
        #expect(log.entries == ["inner"])
        #expect(outer.failureNow is CancellationError)
        #expect(!outer.isCancelled)

        let kept = Lock<Task<Int>?>(nil)
        let next = Task<Int>.Promise()
        let other = Task(next).flatMap { turn in
            let inner = Self.count(.promised, turn, to: 100, waiting)
            kept.withLock { $0 = inner }
            return inner
        }
        next.succeed(with: 0)
        waiting.drive(10)
        other.cancel()
        #expect(kept.withLock { $0?.isCancelled } == true)
    }

    @Test func `the progress of a loop counts finished turns, and follows the running one`() {
        let waiting = Waiting()
        let task = Self.count(.promised, 0, to: 10, waiting)
        let progress = task.progress
        var fractions = [progress.fractionCompleted]
        for _ in 0...10 {
            waiting.drive(1)
            fractions.append(progress.fractionCompleted)
            #expect(task.progress.fractionCompleted >= fractions[fractions.count - 1])
        }
        #expect(fractions == fractions.sorted())
        #expect(fractions[0] > 0 && fractions[10] < 1 && fractions[11] == 1)
        // Ten of eleven turns, and half of the last one.
        #expect(abs(fractions[10] - 10.5 / 11) < 0.1, "\(fractions)")
    }

    @Test func `a million loops of one turn each leave nothing with a task that many wait for`() {
        let lifetimes = Lifetimes()
        let token = Deferred<Task<Int>.Result>()
        let shared = Task(token)
        var loops = (0..<1_000).map { _ in
            Task.success(1).flatMap { [token = lifetimes.make()] _ in
                token.touch()
                return shared
            }.map { $0 }
        }
        #expect(loops.count == 1_000)
        loops = []
        token.succeed(with: 1)
        #expect(lifetimes.count == 0)
    }
}
