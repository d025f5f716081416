#if DEBUG
import DeferredCore
import TestSupport
import Testing

@testable import DeferredCore

/// Tests that no interleaving of a fill with abandoned stages loses or repeats a result, theirs or their neighbours'.
@Suite(.ownThread, .timeLimit(.minutes(5)), .enabled(if: !isThreadSanitized))
struct StageInterleavingTests {
    @Test(arguments: [
        (stages: 1, abandoned: 0, atLeast: 53), (2, 0, 81), (2, 1, 53), (3, 1, 81),
    ])
    func `fill × abandon`(stages: Int, abandoned: Int, atLeast: Int) {
        let explorer = Explorer(actors: 2)
        explorer.explore { StageWorld(stages, abandoned).run }
        #expect(explorer.violation == nil)
        #expect(explorer.interleavings >= atLeast)
    }
}

extension StageInterleavingTests {
    @Test(arguments: [
        ([ExaminingWorld.Action.fill], 10), ([.abandon], 10), ([.drop], 8), ([.fill, .abandon], 300),
        ([.drop, .abandon], 300), ([.examine], 4), ([.fill, .examine], 100),
    ])
    func `examine × what ends the wait`(others: [ExaminingWorld.Action], atLeast: Int) {
        for executor in [false, true] {
            let explorer = Explorer(actors: others.count + 1, interruptions: others.count > 1 ? 3 : nil)
            explorer.explore { ExaminingWorld(others, isSubmitted: executor).run }
            #expect(explorer.violation == nil)
            #expect(explorer.interleavings >= atLeast)
        }
    }
}

/// One future, and one stage that waits for it, which another thread asks for the future.
///
/// SAFETY: everything belongs to the holder of the explorer's baton.
final class ExaminingWorld: @unchecked Sendable {
    enum Action: Sendable { case examine, fill, abandon, drop }

    /// Runs nothing by itself.
    private final class Waiting: Executor, @unchecked Sendable {
        var bodies: [@Sendable () -> Void] = []
        func submit(_ body: @escaping @Sendable () -> Void) { bodies.append(body) }
    }

    private var source: FutureStorage<Int>?
    /// Unowned, which keeps the memory from being reused for another word.
    private unowned let memory: FutureStorage<Int>
    private let executor = Waiting()
    private let stage: FutureStorage<Int>
    private let others: [Action]
    private var values: [Int] = []
    private var violation: String?

    init(_ others: [Action], isSubmitted: Bool) {
        self.others = others
        let source = FutureStorage<Int>()
        (self.source, memory) = (source, source)
        stage = isSubmitted ? source.derive(executor, Passing()) : source.derive(ImmediateExecutor(), Passing())
        stage.upon(.immediate) { [unowned self] in values.append($0) }
    }

    var run: Explorer.Run {
        Explorer.Run(
            actors: ([.examine] + others).map { action in { self.perform(action) } },
            check: { self.violation },
            end: { self.end() },
            guarded: [memory.word.bits.address]
        )
    }

    private func perform(_ action: Action) {
        switch action {
        case .fill: _ = source?.fill(with: 1)
        case .abandon: stage.abandon()
        case .drop: source = nil
        case .examine:
            switch stage.membership.examine() {
            case .waiting(let input): if input !== memory { violation = "the wrong future was found" }
            case .ended: if !others.contains(.fill), !others.contains(.abandon) { violation = "nothing has ended" }
            case .lost: if !others.contains(.drop) { violation = "nothing was dropped" }
            }
        }
    }

    private func end() -> String? {
        if let violation { return violation }
        for body in executor.bodies { body() }
        if case .waiting(let input) = stage.membership.examine() {
            if others != [.examine] { return "the stage still waits" }
            _ = (input as? FutureStorage<Int>)?.fill(with: 1)
            for body in executor.bodies { body() }
        }
        let expected: [[Int]] = others.contains(.drop) ? (others.contains(.abandon) ? [[-1]] : [[]]) : [[1], [-1]]
        if !expected.contains(values) { return "the stage gave \(values)" }
        if values == [-1], !others.contains(.abandon) { return "nobody abandoned the stage" }
        return nil
    }
}

/// One future, and the cancellable stages that wait for it.
///
/// SAFETY: everything belongs to the holder of the explorer's baton.
private final class StageWorld: @unchecked Sendable {
    private let source = FutureStorage<Int>()
    private let stages: [Stage<Passing, ImmediateExecutor>]
    private let abandoned: Int
    private var values: [[Int]]

    init(_ count: Int, _ abandoned: Int) {
        self.abandoned = abandoned
        let source = source
        stages = (0..<count).map { _ in source.derive(ImmediateExecutor(), Passing()) }
        values = Array(repeating: [], count: count)
        for index in 0..<count {
            stages[index].upon(.immediate) { [unowned self] in values[index].append($0) }
        }
    }

    var run: Explorer.Run {
        let fill: @Sendable () -> Void = { _ = self.source.fill(with: 1) }
        return Explorer.Run(
            actors: [fill, { self.stages[self.abandoned].abandon() }],
            observe: {},
            check: { self.values.contains { $0.count > 1 } ? "a handler ran twice: \(self.values)" : nil },
            end: { self.end() },
            guarded: Set([source.word.bits.address] + stages.map { $0.word.bits.address })
        )
    }

    private func end() -> String? {
        for (index, values) in values.enumerated() {
            let isRight = values == [1] || (index == abandoned && values == [Passing.cancelled()])
            if !isRight { return "stage \(index) gave \(values)" }
        }
        return nil
    }
}

private struct Passing: Transform {
    static var isCancellable: Bool { true }
    static func cancelled() -> Int { -1 }
    static func shortcut(_ input: Int) -> Int? { nil }
    func apply(_ input: Int) -> Outcome<Int> { .value(input) }
}
#endif
