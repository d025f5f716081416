import DeferredCore
import DeferredTesting
import Dispatch
import Synchronization
import TestSupport
import Testing

@testable import DeferredCore

@Suite(.ownThread, .timeLimit(.minutes(5)))
struct RegistrationTests {
    @Test func `a cancelled handler does not run, and releases its captures at once`() {
        let lifetimes = Lifetimes()
        let deferred = Deferred<Int>()
        let registration = deferred.upon(.immediate) { [token = lifetimes.make()] _ in
            token.touch()
            Issue.record("a cancelled handler ran")
        }
        #expect(lifetimes.count == 1)
        #expect(!registration.isCancelled)
        registration.cancel()
        #expect(lifetimes.count == 0)
        #expect(registration.isCancelled)
        #expect(!deferred.storage.hasHandlers)
        registration.cancel()
        deferred.fill(with: 1)
        #expect(registration.isCancelled)
    }

    @Test func `a registration made from a closure calls it once, and frees it`() {
        let (lifetimes, log) = (Lifetimes(), Log<Bool>())
        let inside = Lock<Registration?>(nil)
        let registration = Registration { [token = lifetimes.make()] in
            token.touch()
            log.add(inside.withLock { $0 }?.isCancelled == true)
        }
        inside.withLock { $0 = registration }
        #expect(!registration.isCancelled && lifetimes.count == 1)
        registration.cancel()
        registration.cancel()
        #expect(log.entries == [true])
        #expect(registration.isCancelled && lifetimes.count == 0)
        #expect(MemoryLayout<Registration>.size == MemoryLayout<Int>.size)
    }

    @Test func `a registration made from a closure that goes uncancelled frees it, and does not call it`() {
        let lifetimes = Lifetimes()
        do {
            let registration = Registration { [token = lifetimes.make()] in
                token.touch()
                Issue.record("called")
            }
            #expect(lifetimes.count == 1)
            withExtendedLifetime(registration) {}
        }
        #expect(lifetimes.count == 0)
    }

    @Test func `of 4 threads that cancel a registration made from a closure, one calls it`() {
        for _ in 0..<2_000 {
            let calls = Atomic(0)
            let registration = Registration { calls.add(1, ordering: .relaxed) }
            race(4) { _ in registration.cancel() }
            #expect(calls.load(ordering: .relaxed) == 1)
        }
    }

    @Test func `cancelling after the handler ran does nothing`() {
        let log = Log<Int>()
        let deferred = Deferred<Int>()
        let before = deferred.upon(.immediate) { log.add($0) }
        deferred.fill(with: 1)
        let after = deferred.upon(.immediate) { log.add($0 + 1) }
        before.cancel()
        after.cancel()
        #expect(!before.isCancelled && !after.isCancelled)
        #expect(log.entries == [1, 2])
    }

    @Test func `a handler that ran releases its captures, though its registration is kept`() {
        let lifetimes = Lifetimes()
        let deferred = Deferred<Int>()
        let registration = deferred.upon(.immediate) { [token = lifetimes.make()] _ in token.touch() }
        deferred.fill(with: 1)
        #expect(lifetimes.count == 0)
        withExtendedLifetime(registration) {}
    }

    @Test func `a handler that waits for its executor can still be cancelled`() {
        let lifetimes = Lifetimes()
        let executor = ManualExecutor()
        let deferred = Deferred<Int>()
        let log = Log<String>()
        let before = deferred.upon(executor) { [token = lifetimes.make()] _ in
            token.touch()
            log.add("before")
        }
        let kept = deferred.upon(executor) { _ in log.add("kept") }
        deferred.fill(with: 1)
        let after = deferred.upon(executor) { [token = lifetimes.make()] _ in
            token.touch()
            log.add("after")
        }
        before.cancel()
        after.cancel()
        #expect(lifetimes.count == 0)
        executor.runAll()
        #expect(log.entries == ["kept"])
        #expect(before.isCancelled && after.isCancelled && !kept.isCancelled)
    }

    @Test func `a registration keeps neither the future nor its handlers alive`() {
        let lifetimes = Lifetimes()
        var deferred: Deferred<Lifetimes.Token>? = Deferred()
        let registration = deferred?.upon(.immediate) { [token = lifetimes.make()] _ in token.touch() }
        #expect(lifetimes.count == 1)
        deferred = nil
        #expect(lifetimes.count == 0)
        registration?.cancel()
        #expect(registration?.isCancelled == false)

        deferred = Deferred(filledWith: lifetimes.make())
        let late = deferred?.upon(.any()) { _ in }
        deferred = nil
        late?.cancel()
    }

    @Test(arguments: [1, 2, 3, 4, 5, 6])
    func `any subset of handlers can be cancelled, in any order`(count: Int) {
        for order in permutations(of: Array(0..<count)) {
            for cancelled in 0...count {
                let deferred = Deferred<Int>()
                let log = Log<Int>()
                let registrations = (0..<count).map { index in deferred.upon(.immediate) { _ in log.add(index) } }
                for index in order.prefix(cancelled) { registrations[index].cancel() }
                // One more handler, so that new nodes are pushed on top of a list from which nodes were removed.
                deferred.upon(.immediate) { _ in log.add(count) }
                if cancelled > 0 { registrations[order[0]].cancel() }
                deferred.fill(with: 1)
                #expect(log.entries == order.dropFirst(cancelled).sorted() + [count])
            }
        }
    }

    @Test func `100,000 handlers cancelled oldest first leave an empty list`() {
        let deferred = Deferred<Int>()
        let registrations = (0..<100_000).map { _ in deferred.upon(.immediate) { _ in } }
        for registration in registrations { registration.cancel() }
        #expect(!deferred.storage.hasHandlers)
    }

    @Test func `fill, register and cancel on three threads: each handler runs once or never, as its registration says`()
    {
        let rounds = 30_000
        let slots = (0..<rounds).map { _ in Slot() }
        race(3) { thread in
            for slot in slots {
                switch thread {
                case 0:
                    slot.deferred.fill(with: 1)
                case 1:
                    for index in 0..<3 {
                        let registration = slot.deferred.upon(.immediate) { _ in
                            slot.calls[index].add(1, ordering: .relaxed)
                        }
                        slot.registrations.withLock { $0.append(registration) }
                    }
                default:
                    for registration in slot.registrations.withLock({ $0.reversed() }) { registration.cancel() }
                }
            }
        }
        var (ran, cancelled) = (0, 0)
        for slot in slots {
            for (index, registration) in slot.registrations.withLock({ $0 }).enumerated() {
                let calls = slot.calls[index].load(ordering: .relaxed)
                #expect(calls == (registration.isCancelled ? 0 : 1))
                if calls == 1 { ran += 1 } else { cancelled += 1 }
            }
        }
        #expect(ran + cancelled == 3 * rounds)
    }

    @Test func `cancelling and registering on 4 threads while a future stays unfilled leaves nothing`() {
        let lifetimes = Lifetimes()
        let deferred = Deferred<Int>()
        race(4) { thread in
            var kept: [Registration] = []
            for index in 0..<(isSanitized ? 2_000 : 20_000) {
                kept.append(deferred.upon(.immediate) { [token = lifetimes.make()] _ in token.touch() })
                if kept.count > 8 { kept.remove(at: index * 7 % kept.count).cancel() }
            }
            for registration in kept { registration.cancel() }
        }
        #expect(lifetimes.count == 0)
        #expect(!deferred.storage.hasHandlers)
    }

    @Test func `dropping the future while handlers are cancelled is safe, and frees all`() {
        let lifetimes = Lifetimes()
        for _ in 0..<5_000 {
            let deferred = Lock<Future<Int>?>(Deferred<Int>().future)
            let registrations = (0..<3).map { _ in
                deferred.withLock { $0 }?.upon(.immediate) { [token = lifetimes.make()] _ in token.touch() }
            }
            let gate = Gate(2)
            let done = DispatchSemaphore(value: 0)
            DispatchQueue.global().async {
                gate.pass()
                for registration in registrations { registration?.cancel() }
                done.signal()
            }
            gate.pass()
            let last = deferred.withLock { $0.take() }
            _ = last
            done.wait()
        }
        #expect(lifetimes.count == 0)
    }
}

private final class Slot: Sendable {
    let deferred = Deferred<Int>()
    let registrations = Lock<[Registration]>([])
    let calls = Calls()

    final class Calls: Sendable {
        private let (a, b, c) = (Counter(), Counter(), Counter())
        subscript(index: Int) -> Counter { [a, b, c][index] }
    }

    final class Counter: Sendable {
        private let count = Atomic(0)
        func add(_ value: Int, ordering: AtomicUpdateOrdering) { count.add(1, ordering: .relaxed) }
        func load(ordering: AtomicLoadOrdering) -> Int { count.load(ordering: .relaxed) }
    }
}

private func permutations(of elements: [Int]) -> [[Int]] {
    guard elements.count > 1 else { return [elements] }
    return elements.indices.flatMap { index in
        var rest = elements
        let element = rest.remove(at: index)
        return permutations(of: rest).map { [element] + $0 }
    }
}
