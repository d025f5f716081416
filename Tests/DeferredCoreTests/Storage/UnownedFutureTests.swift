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
        let notice: EndNotice
        do {
            let first = FutureStorage(filledWith: 1)
            let second = FutureStorage<Int>().derive(ImmediateExecutor(), Failing())
            notice = first.notice(lost: { _ in }) { notice, _ in _ = notice.attachment.end(hasFailed: false) }
            (filled, lost) = (UnownedFuture(first, notice), UnownedFuture(second))
            #expect(filled.isFinished && !lost.isFinished)
        }
        withExtendedLifetime(notice) { #expect(filled.isFinished && filled.hasSucceeded && !lost.isFinished) }
        #expect(!lost.attach(Object()))
        lost.strong?.abandon()
        #expect(!lost.isFinished)
    }

    @Test(arguments: [false, true])
    func `a future without room for it has its attachment in a notice`(isFilledBefore: Bool) {
        let told = Log<ObjectIdentifier>()
        let object = Object()
        let storage = FutureStorage<Int>()
        if isFilledBefore { storage.fulfil(with: 1) }
        let notice = storage.notice(lost: { _ in }) { notice, future in
            #expect((future as? FutureStorage<Int>)?.peek() == 1)
            if let object = notice.attachment.end(hasFailed: false) { told.add(ObjectIdentifier(object)) }
        }
        let future = UnownedFuture(storage, notice)
        let isAttached = future.attach(object)
        #expect(isAttached != isFilledBefore)
        _ = storage.fill(with: 1)
        #expect(told.entries == (isFilledBefore ? [] : [ObjectIdentifier(object)]))
        withExtendedLifetime(notice) { #expect(future.hasSucceeded) }
    }

    @Test func `a cancelled notice is not delivered`() {
        let storage = FutureStorage<Int>()
        let told = Log<Int>()
        let notice = storage.notice(lost: { _ in }) { _, _ in told.add(1) }
        Registration(notice).cancel()
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
