import DeferredCore
import TestSupport
import Testing

@testable import DeferredCore

@Suite(.ownThread, .timeLimit(.minutes(5)))
struct SequenceFirstFilledTests {
    @Test func `the first to be filled wins, and the handlers of the others are gone before anybody sees it`() {
        let futures = (0..<5).map { _ in Deferred<Int>() }
        let first = futures.firstFilled()
        #expect(futures.allSatisfy { $0.storage.hasHandlers })
        let log = Log<Bool>()
        first.upon(.immediate) { _ in log.add(futures.contains { $0.storage.hasHandlers }) }
        futures[3].fill(with: 3)
        futures[1].fill(with: 1)
        #expect(first.peek() == 3)
        #expect(log.entries == [false])
    }

    @Test func `a future that is filled already wins at once, and nothing after it is looked at`() {
        let (before, after) = (Deferred<Int>(), Deferred<Int>())
        var looked = 0
        let candidates = [before, Deferred(filledWith: 1), Deferred(filledWith: 2), after].lazy.map { future in
            looked += 1
            return future
        }
        let first = AnySequence(candidates).firstFilled()
        #expect(first.peek() == 1)
        #expect(looked == 2)
        #expect(!before.storage.hasHandlers && !after.storage.hasHandlers)
    }

    @Test func `the first of none is never filled`() {
        #expect([Deferred<Int>]().firstFilled().peek() == nil)
    }

    @Test func `one future may come twice`() {
        let deferred = Deferred<Int>()
        let first = [deferred, deferred].firstFilled()
        deferred.fill(with: 1)
        #expect(first.peek() == 1)
        #expect(!deferred.storage.hasHandlers)
    }

    @Test func `the handlers of custom futures are removed, too`() {
        let (a, b) = (CustomFuture<Int>(), CustomFuture<Int>())
        let first = [a, b].firstFilled()
        #expect(a.base.storage.hasHandlers)
        b.base.fill(with: 2)
        #expect(first.peek() == 2)
        #expect(!a.base.storage.hasHandlers)
    }

    @Test func `a future that one's own conformer fills while registering ends the registering`() {
        struct Eager: FutureProtocol {
            let never = Deferred<Int>()
            func upon(_ executor: some Executor, execute body: @escaping @Sendable (Int) -> Void) -> Registration {
                body(5)
                return never.upon(.immediate) { _ in }
            }
            func peek() -> Int? { nil }
        }
        let futures = [Eager(), Eager()]
        #expect(futures.firstFilled().peek() == 5)
        #expect(futures.allSatisfy { !$0.never.storage.hasHandlers })
    }

    @Test func `a loser that is never filled keeps nothing of the race`() {
        let lifetimes = Lifetimes()
        let never = Deferred<Lifetimes.Token>()
        do {
            let winner = Deferred<Lifetimes.Token>()
            let first = [never, winner].firstFilled()
            first.upon(.immediate) { [token = lifetimes.make()] _ in token.touch() }
            winner.fill(with: lifetimes.make())
        }
        #expect(lifetimes.count == 0)
        #expect(!never.storage.hasHandlers)
    }

    @Test func `when all futures go unfilled, so does the result, and frees its handlers`() {
        let lifetimes = Lifetimes()
        var futures = [Deferred<Int>(), Deferred<Int>()]
        let first = futures.firstFilled().map { $0 + 1 }
        first.upon(.immediate) { [token = lifetimes.make()] _ in token.touch() }
        futures.removeLast()
        #expect(lifetimes.count == 1)
        futures.removeLast()
        #expect(lifetimes.count == 0)
        withExtendedLifetime(first) {}
        do {
            _ = [Deferred<Int>()].firstFilled().upon(.immediate) { [token = lifetimes.make()] _ in token.touch() }
        }
        #expect(lifetimes.count == 0)
    }

    @Test func `a result that nobody holds is filled all the same`() {
        let log = Log<Int>()
        let futures = [Deferred<Int>(), Deferred<Int>()]
        futures.firstFilled().upon(.immediate) { log.add($0) }
        futures[1].fill(with: 1)
        #expect(log.entries == [1])
        #expect(!futures[0].storage.hasHandlers)
    }

    @Test func `a thousand losers are removed, and 100,000 nested races are won and dropped, without overflow`() {
        let futures = (0..<1000).map { _ in Deferred<Int>() }
        let first = futures.firstFilled()
        futures[500].fill(with: 1)
        #expect(first.isFilled && !futures.contains { $0.storage.hasHandlers })

        for isFilled in [true, false] {
            let lifetimes = Lifetimes()
            let never = Deferred<Int>()
            do {
                let head = Deferred<Int>()
                var tail = head.future
                for _ in 0..<100_000 { tail = [never.future, tail].firstFilled() }
                tail.upon(.immediate) { [token = lifetimes.make()] _ in token.touch() }
                if isFilled { head.fill(with: 0) }
                #expect(tail.isFilled == isFilled)
            }
            if isFilled {
                #expect(lifetimes.count == 0)
                #expect(!never.storage.hasHandlers)
            }
        }
    }

    @Test func `nested races over futures that are all dropped are freed without overflow`() {
        let lifetimes = Lifetimes()
        do {
            var tail = Deferred<Int>().future
            let head = tail
            for _ in 0..<100_000 { tail = [tail].firstFilled() }
            tail.upon(.immediate) { [token = lifetimes.make()] _ in token.touch() }
            withExtendedLifetime(head) {}
        }
        #expect(lifetimes.count == 0)
    }

    #if os(macOS) || os(Linux)
    @Test func `300,000 races against one unfilled future keep memory flat`() async {
        await #expect(processExitsWith: .success) {
            let never = Deferred<Int>()
            func rounds(_ count: Int) {
                for _ in 0..<count {
                    let other = Deferred<Int>()
                    let first = [never, other].firstFilled()
                    other.fill(with: 1)
                    precondition(first.peek() == 1)
                }
            }
            rounds(20_000)
            let before = residentMemory()
            rounds(isSanitized ? 30_000 : 300_000)
            let growth = residentMemory() - before
            precondition(growth < 6 << 20 || isSanitized, "\(growth) bytes more than before")
            precondition(!never.storage.hasHandlers)
        }
    }
    #endif

    @Test func `two threads fill while a third registers: one wins, and no handler is left`() {
        for _ in 0..<5_000 {
            let futures = [Deferred<Int>(), Deferred<Int>(), Deferred<Int>()]
            let results = Log<Future<Int>>()
            race(3) { thread in
                if thread == 0 { results.add(futures.firstFilled()) } else { futures[thread].fill(with: thread) }
            }
            let winner = results.entries[0].peek()
            #expect(winner == 1 || winner == 2)
            #expect(!futures.contains { $0.storage.hasHandlers })
        }
    }
}
