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
        let observer: AttachmentObserver
        do {
            let first = FutureStorage(filledWith: 1)
            let second = FutureStorage<Int>().derive(ImmediateExecutor(), Failing())
            observer = first.observer(lost: { _ in }) { observer, _ in _ = observer.attachment.end(hasFailed: false) }
            (filled, lost) = (UnownedFuture(first, observer), UnownedFuture(second))
            #expect(filled.isFinished && !lost.isFinished)
        }
        withExtendedLifetime(observer) { #expect(filled.isFinished && filled.hasSucceeded && !lost.isFinished) }
        #expect(!lost.attach(Object()))
        lost.strong?.abandon()
        #expect(!lost.isFinished)
    }

    @Test(arguments: [false, true])
    func `a future without room for it has its attachment in an observer`(isFilledBefore: Bool) {
        let told = Log<ObjectIdentifier>()
        let object = Object()
        let storage = FutureStorage<Int>()
        if isFilledBefore { storage.fulfil(with: 1) }
        let observer = storage.observer(lost: { _ in }) { observer, future in
            #expect((future as? FutureStorage<Int>)?.peek() == 1)
            if let object = observer.attachment.end(hasFailed: false) { told.add(ObjectIdentifier(object)) }
        }
        let future = UnownedFuture(storage, observer)
        let isAttached = future.attach(object)
        #expect(isAttached != isFilledBefore)
        _ = storage.fill(with: 1)
        #expect(told.entries == (isFilledBefore ? [] : [ObjectIdentifier(object)]))
        withExtendedLifetime(observer) { #expect(future.hasSucceeded) }
    }

    @Test func `a cancelled observer is not delivered`() {
        let storage = FutureStorage<Int>()
        let told = Log<Int>()
        let observer = storage.observer(lost: { _ in }) { _, _ in told.add(1) }
        Registration(observer).cancel()
        _ = storage.fill(with: 1)
        #expect(told.entries.isEmpty)
    }

    @Test func `abandoning races with the input and with the last reference`() {
        for _ in 0..<(isSanitized ? 500 : 5_000) {
            let input = FutureStorage<Int>()
            let stage = Lock<Stage<Failing, ImmediateExecutor>?>(input.derive(ImmediateExecutor(), Failing()))
            let values = Log<Int>()
            let reference = stage.withLock { stage -> UnownedFuture? in
                stage?.upon(.immediate) { values.add($0) }
                return stage.map { UnownedFuture($0) }
            }
            race(3) { index in
                switch index {
                case 0: _ = stage.withLock { $0.take() }
                case 1: reference?.strong?.abandon()
                default: _ = input.fill(with: 1)
                }
            }
            #expect(values.entries == [1] || values.entries == [-1])
            #expect(reference?.isFinished == true)
        }
    }
}
