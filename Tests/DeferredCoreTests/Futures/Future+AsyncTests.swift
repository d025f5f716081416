import DeferredCore
import Dispatch
import TestSupport
import Testing

@Suite(.ownThread, .timeLimit(.minutes(1)))
struct FutureAsyncTests {
    @Test func `async runs its closure once on its executor, and fills with its result`() async {
        let queue = DispatchQueue(label: "async")
        let key = DispatchSpecificKey<Int>()
        queue.setSpecific(key: key, value: 5)
        let log = Log<Int>()
        let future = Future.async(on: queue) {
            log.add(1)
            return DispatchQueue.getSpecific(key: key)
        }
        #expect(await future.value == 5)
        #expect(log.entries == [1])
        #expect(Future.async(on: .immediate) { 7 }.peek() == 7)
    }

    @Test @MainActor func `async may touch main-actor state on the main actor`() async {
        let label = Label()
        label.text = "here"
        #expect(await Future.async(on: .mainActor) { label.text }.value == "here")
    }

    @Test func `an executor that drops the closure frees it, and one that runs it twice fills once`() {
        struct Dropping: Executor { func submit(_ body: @escaping @Sendable () -> Void) {} }
        struct Twice: Executor {
            func submit(_ body: @escaping @Sendable () -> Void) { body(); body() }
        }
        let lifetimes = Lifetimes()
        let future = Future.async(on: Dropping()) { [token = lifetimes.make()] in token.touch() }
        #expect(lifetimes.count == 0)
        #expect(!future.isFilled)
        let log = Log<Int>()
        let twice = Future.async(on: Twice()) {
            log.add(log.entries.count); return log.entries.count
        }
        #expect(twice.peek() == 1)
    }
}

@MainActor private final class Label {
    var text = ""
}
