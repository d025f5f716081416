#if DEBUG
import DeferredCore
import TestSupport
import Testing

@testable import DeferredCore

/// Tests that no interleaving of a fill with abandoned stages loses or repeats a result, theirs or their neighbours'.
@Suite(.ownThread, .timeLimit(.minutes(5)), .enabled(if: !isThreadSanitized))
struct StageInterleavingTests {
    @Test(arguments: [
        (stages: 1, abandoned: 0, atLeast: 59), (2, 0, 87), (2, 1, 59), (3, 1, 87),
    ])
    func `fill × abandon`(stages: Int, abandoned: Int, atLeast: Int) {
        let explorer = Explorer(actors: 2)
        explorer.explore { StageWorld(stages, abandoned).run }
        #expect(explorer.violation == nil)
        #expect(explorer.interleavings >= atLeast)
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
