import DeferredCore
import DeferredTesting
import Dispatch
import Synchronization
import TestSupport
import Testing

@Suite(.ownThread, .timeLimit(.minutes(5)))
struct FutureProtocolUponTests {
    @Test func `a handler that is registered while those of the future run doesn't queue behind them`() {
        let deferred = Deferred<Int>()
        let log = Log<String>()
        deferred.upon(.immediate) { _ in
            log.add("first")
            deferred.upon(.immediate) { _ in log.add("registered meanwhile") }
        }
        deferred.upon(.immediate) { _ in log.add("second") }
        deferred.fill(with: 1)
        #expect(log.entries == ["first", "registered meanwhile", "second"])
    }

    @Test func `handlers run once, in order of registration`() {
        let deferred = Deferred<Int>()
        let log = Log<String>()
        for name in ["a", "b", "c", "d", "e"] {
            deferred.upon(.immediate) { log.add("\(name)\($0)") }
        }
        #expect(log.entries.isEmpty)
        deferred.fill(with: 7)
        deferred.fill(with: 8)
        #expect(log.entries == ["a7", "b7", "c7", "d7", "e7"])
    }

    @Test func `a handler registered after the fill runs at once`() {
        let log = Log<Int>()
        Deferred(filledWith: 7).upon(.immediate) { log.add($0) }
        Future(value: 8).upon(.immediate) { log.add($0) }
        #expect(log.entries == [7, 8])
    }

    @Test func `a serial queue keeps the order of a thousand handlers`() async {
        let deferred = Deferred<Void>()
        let queue = DispatchQueue(label: "handlers")
        let log = Log<Int>()
        for index in 0..<1000 { deferred.upon(queue) { log.add(index) } }
        deferred.fill()
        let done = Deferred<Void>()
        queue.async { done.fill() }
        await done.value
        #expect(log.entries == Array(0..<1000))
    }

    @Test func `handlers run on the queue they were given`() async {
        let queue = DispatchQueue(label: "handlers")
        let key = DispatchSpecificKey<String>()
        queue.setSpecific(key: key, value: "here")
        let deferred = Deferred<Int>()
        let before = Deferred<String?>()
        let after = Deferred<String?>()
        deferred.upon(queue) { _ in before.fill(with: DispatchQueue.getSpecific(key: key)) }
        deferred.fill(with: 1)
        deferred.upon(queue) { _ in after.fill(with: DispatchQueue.getSpecific(key: key)) }
        #expect(await before.value == "here")
        #expect(await after.value == "here")
    }

    @Test func `a handler that is registered after the fill is submitted before the registering call returns`() {
        let executor = ManualExecutor()
        let deferred = Deferred(filledWith: 1)
        deferred.upon(executor) { _ in }
        #expect(executor.count == 1)
        // A closure that is never run keeps its executor.
        #expect(executor.runAll() == 1)
    }

    @Test func `the ready-made executors run submitted closures`() async {
        #expect(await value(through: .immediate) == 1)
        #expect(await value(through: .any()) == 1)
        #expect(await value(through: .main) == 1)
        #expect(await value(through: .global()) == 1)
        #expect(await value(through: .global(qos: .utility)) == 1)
        #expect(await value(through: DispatchQueue(label: "own")) == 1)
    }

    private func value(through executor: some Executor) async -> Int {
        let deferred = Deferred<Int>()
        let result = Deferred<Int>()
        deferred.upon(executor) { result.fill(with: $0) }
        deferred.fill(with: 1)
        return await result.value
    }

    @Test @MainActor func `main-actor handlers may touch main-actor state`() async {
        let label = Label()
        let deferred = Deferred<Int>()
        deferred.upon(.mainActor) { label.text = "\($0)" }
        let mapped = deferred.map(on: .mainActor) { "\(label.text) and \($0)" }
        let chained = mapped.flatMap(on: .mainActor) { Future(value: "\($0) and \(label.text)") }
        deferred.fill(with: 1)
        #expect(await chained.value == "1 and 1 and 1")
    }

    @Test func `a handler may fill, register, cancel, and drop the future`() {
        let log = Log<String>()
        var deferred: Deferred<Int>? = Deferred()
        let other = Deferred<Int>()
        let holder = Lock(deferred)
        deferred?.upon(.immediate) { value in
            holder.withLock { $0 }?.upon(.immediate) { log.add("inner \($0)") }
            other.fill(with: value + 1)
            #expect(holder.withLock { $0 }?.fill(with: 9) == false)
            holder.withLock { $0 = nil }
            log.add("outer \(value)")
        }
        other.upon(.immediate) { log.add("other \($0)") }
        let last = Lock<Registration?>(nil)
        deferred?.upon(.immediate) { _ in last.withLock { $0?.cancel() } }
        let registration = deferred?.upon(.immediate) { _ in log.add("never") }
        last.withLock { $0 = registration }
        deferred?.fill(with: 1)
        deferred = nil
        #expect(log.entries == ["inner 1", "other 2", "outer 1"])
        #expect(registration?.isCancelled == true)
    }

    @Test func `everything before the fill is visible to a handler on another thread`() async {
        for _ in 0..<1000 {
            let deferred = Deferred<Void>()
            let box = Unguarded()
            let seen = Deferred<Int>()
            deferred.upon(.any()) { seen.fill(with: box.value) }
            DispatchQueue.global().async {
                box.value = 5
                deferred.fill()
            }
            #expect(await seen.value == 5)
        }
    }

    @Test func `a fill and registrations on 4 threads lose and repeat nothing`() {
        let rounds = 20_000
        let calls = Log<Int>()
        let deferreds = (0..<rounds).map { _ in Deferred<Int>() }
        let count = Atomic(0)
        race(4) { thread in
            for (index, deferred) in deferreds.enumerated() {
                if thread == index % 4 {
                    deferred.fill(with: index)
                } else {
                    deferred.upon(.immediate) {
                        if $0 == index { count.add(1, ordering: .relaxed) } else { calls.add($0) }
                    }
                }
            }
        }
        #expect(count.load(ordering: .relaxed) == 3 * rounds)
        #expect(calls.entries.isEmpty)
    }
}

@MainActor private final class Label {
    var text = ""
}

/// SAFETY: written before a fill and read after it: ThreadSanitizer checks that this is enough.
private final class Unguarded: @unchecked Sendable {
    var value = 0
}
