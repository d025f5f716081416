import DeferredCore
import DeferredTask
import DeferredTesting
import Foundation
import Synchronization
import TestSupport
import Testing

/// Runs loops of tasks that start their next turn in `flatMap` or `fallback`, watched, shared and cancelled at any turn.
@Suite(.ownThread, .timeLimit(.minutes(5)))
struct RecursiveLoopsTests {
    init() { DeferredDiagnostics.unfilledHandler = { _ in } }

    private struct Stop: Error {}

    /// A loop, the producers of which a test fills by hand.
    private final class Loop: Sendable {
        enum Kind: CaseIterable { case flatMap, fallback, mapped, shared, inCombination }

        struct State {
            var running: Task<Int>.Promise?
            var turn = 0
            var told: [Int: Int] = [:]
        }

        let kind: Kind
        let turns: Int
        let state = Lock(State())
        let lifetimes = Lifetimes()

        init(_ kind: Kind, turns: Int) {
            self.kind = kind
            self.turns = turns
        }

        func turn(_ number: Int) -> Task<Int> {
            let promise = Task<Int>.Promise()
            let reporter = ProgressReporter(total: 10, unit: .bytes)
            let token = lifetimes.make()
            let task = Task(promise, reporter: reporter) { [self] promise in
                token.touch()
                state.withLock { $0.told[number, default: 0] += 1 }
                promise.fail(with: CancellationError())
            }
            reporter.report(completed: 10, of: 10)
            state.withLock { state in
                state.running = promise
                state.turn = number
            }
            if number == turns { return task }
            let next: @Sendable () -> Task<Int> = { [self] in turn(number + 1) }
            switch kind {
            case .flatMap: return task.flatMap { _ in next() }
            case .fallback: return task.fallback { error in error is Stop ? next() : .failure(error) }
            case .mapped: return task.map { $0 }.flatMap { _ in next() }.map { $0 }
            case .shared: return task.shared().flatMap { _ in next() }
            case .inCombination: return task.flatMap { _ in [next()].allSucceeded() }.map { $0[0] }
            }
        }

        func fill() {
            let promise = state.withLock { $0.running.take() }
            if kind == .fallback { promise?.fail(with: Stop()) } else { promise?.succeed(with: 1) }
        }

        var told: [Int: Int] { state.withLock(\.told) }
        var turnNow: Int { state.withLock(\.turn) }
    }

    @Test func `cancelled at any turn, the running producer is told exactly once`() {
        for kind in Loop.Kind.allCases {
            for seed in 0..<rounds(6) {
                var random = SeededGenerator(seed: UInt64(seed))
                let turns = kind == .inCombination || kind == .mapped ? 60 : 400
                let (loop, last) = (Loop(kind, turns: turns), Int.random(in: 0..<turns, using: &random))
                let whole = loop.turn(0)
                let object = Bool.random(using: &random) ? whole.progress : nil
                let source = CancellationTokenSource()
                let usesToken = Bool.random(using: &random)
                let task = usesToken ? whole.cancelled(by: source.token) : whole
                if Bool.random(using: &random) { whole.uponProgress(on: .immediate) { _ in } }
                if Bool.random(using: &random) { whole.uponCancel {} }
                for _ in 0..<last { loop.fill() }
                #expect(loop.turnNow == last)
                if usesToken { source.cancel() } else { task.cancel() }
                #expect(loop.told == [last: 1], "\(kind), seed \(seed)")
                #expect(whole.isFilled && (object?.isCancelled ?? true))
            }
        }
    }

    @Test func `cancelled by another thread at any moment, the producer that runs is told exactly once`() {
        for kind in Loop.Kind.allCases {
            for seed in 0..<rounds(30) {
                let loop = Loop(kind, turns: 40)
                let whole = loop.turn(0)
                let object = seed.isMultiple(of: 2) ? whole.progress : nil
                let consumer = seed.isMultiple(of: 3) ? whole.shared() : whole
                let turn = Atomic(0)
                race(2) { thread in
                    if thread == 0 {
                        for number in 0..<40 {
                            loop.fill()
                            turn.store(number, ordering: .releasing)
                        }
                    } else {
                        while turn.load(ordering: .acquiring) < seed % 39 {}
                        consumer.cancel()
                    }
                }
                loop.fill()
                #expect(loop.told.count <= 1 && loop.told.values.allSatisfy { $0 == 1 }, "\(kind), seed \(seed)")
                // Whatever came first, nothing runs any more.
                #expect(whole.isFilled, "\(kind), seed \(seed): \(loop.turnNow), \(loop.told)")
                if !loop.told.isEmpty { #expect(whole.isCancelled && object?.isCancelled != false) }
            }
        }
    }

    @Test func `a watched loop of thousands of turns keeps the running turn only, and counts the bytes of all`() {
        for kind in [Loop.Kind.flatMap, .fallback, .shared] {
            let turns = kind == .flatMap && !isSanitized ? 10_000 : 1_000
            let loop = Loop(kind, turns: turns)
            let whole = loop.turn(0)
            let (object, problems) = (whole.progress, Log<String>())
            let seen = Atomic(Int64(0))
            let fractions = Atomic(UInt64(0))
            whole.uponProgress(on: .immediate) { snapshot in
                let last = seen.exchange(snapshot.completed, ordering: .relaxed)
                if snapshot.completed < last { problems.add("\(kind): \(last) -> \(snapshot.completed)") }
                let fraction = snapshot.fraction.bitPattern
                if fractions.exchange(fraction, ordering: .relaxed) > fraction { problems.add("\(kind): fraction") }
            }
            var most = 0
            for _ in 0..<turns {
                loop.fill()
                most = max(most, loop.lifetimes.count)
            }
            #expect(most < 10, "\(kind)")
            #expect(seen.load(ordering: .relaxed) == Int64(turns + 1) * 10, "\(kind)")
            #expect(object.fractionCompleted < 1)
            #expect(problems.entries.isEmpty, "\(problems.entries.prefix(3))")
            if kind == .fallback { loop.state.withLock { $0.running.take() }?.succeed(with: 1) } else { loop.fill() }
            #expect(object.fractionCompleted == 1 && loop.lifetimes.count == 0, "\(kind)")
        }
    }

    @Test func `a loop whose turns are ended before runs in one go, and is freed`() {
        let lifetimes = Lifetimes()
        @Sendable func turn(_ number: Int) -> Task<Int> {
            let token = lifetimes.make()
            return Task.success(number).map { value in
                token.touch()
                return value
            }
            .flatMap { number == 0 ? .success($0) : turn(number - 1) }
        }
        let start = Deferred<Task<Int>.Result>()
        let whole = Task(start).flatMap { turn($0) }
        let object = whole.progress
        start.succeed(with: 10_000)
        #expect(whole.isFilled && object.fractionCompleted == 1 && lifetimes.count == 0)
    }
}
