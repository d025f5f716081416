import Synchronization
import TestSupport
import Testing

@testable import DeferredCore

@Suite(.ownThread, .timeLimit(.minutes(2)))
struct UnownedFutureTests {
    private struct Failing: Transform {
        static var isCancellable: Bool { true }
        static func cancelled() -> Int { -1 }
        static func shortcut(_ input: Int) -> Int? { nil }
        func apply(_ input: Int) -> Outcome<Int> { .value(input) }
    }

    private final class Object: Sendable {}

    @Test func `a future that is gone says how it ended, and takes nothing`() {
        let (filled, lost): (UnownedFuture, UnownedFuture)
        do {
            let first = FutureStorage(filledWith: 1)
            let second = FutureStorage<Int>().derive(ImmediateExecutor(), Failing())
            (filled, lost) = (UnownedFuture(first), UnownedFuture(second))
            #expect(filled.isFinished && !lost.isFinished)
        }
        #expect(filled.isFinished && !lost.isFinished)
        #expect(!lost.attach(Object()))
        lost.abandon()
        #expect(!lost.isFinished)
    }

    @Test func `abandoning races with the input and with the last reference`() {
        for _ in 0..<(isSanitized ? 500 : 5_000) {
            let input = FutureStorage<Int>()
            let stage = Mutex<Stage<Failing, ImmediateExecutor>?>(input.derive(ImmediateExecutor(), Failing()))
            let values = Log<Int>()
            let reference = stage.withLock { stage -> UnownedFuture? in
                stage?.upon(.immediate) { values.add($0) }
                return stage.map { UnownedFuture($0) }
            }
            race(3) { index in
                switch index {
                case 0: _ = stage.withLock { $0.take() }
                case 1: reference?.abandon()
                default: _ = input.fill(with: 1)
                }
            }
            #expect(values.entries == [1] || values.entries == [-1])
            #expect(reference?.isFinished == true)
        }
    }
}
