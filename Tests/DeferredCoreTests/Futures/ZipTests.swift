import DeferredCore
import TestSupport
import Testing

@testable import DeferredCore

@Suite(.ownThread, .timeLimit(.minutes(5)))
struct ZipTests {
    @Test func `zip of futures of different types is filled when the last of them is`() {
        let (a, b, c) = (Deferred<Int>(), Deferred<String>(), Deferred<[Bool]>())
        let zipped = zip(a, b.future, CustomFuture(c))
        b.fill(with: "b")
        c.fill(with: [true])
        #expect(zipped.peek() == nil)
        a.fill(with: 1)
        #expect(zipped.peek()! == (1, "b", [true]))
    }

    @Test func `zip of filled futures is filled at once, as is zip of none`() {
        #expect(zip(Future(value: 1), Deferred(filledWith: "b")).peek()! == (1, "b"))
        #expect(zip().isFilled)
        let one: Int? = zip(Future(value: 1)).peek()
        #expect(one == 1)
    }

    @Test func `zip takes a mixture of filled and unfilled futures, and the same one twice`() {
        let a = Deferred<Int>()
        let zipped = zip(a, Future(value: "b"), a)
        a.fill(with: 1)
        #expect(zipped.peek()! == (1, "b", 1))
    }

    @Test func `zip takes optional and empty values, and eight futures`() {
        let nothing = Deferred<Void>()
        let maybe = Deferred<Int?>()
        let zipped = zip(maybe, nothing)
        maybe.fill(with: nil)
        #expect(!zipped.isFilled)
        nothing.fill()
        #expect(zipped.peek()?.0 == .some(nil))
        let f = (0..<8).map { _ in Deferred<Int>() }
        let eight = zip(f[0], f[1], f[2], f[3], f[4], f[5], f[6], f[7])
        for (index, future) in f.enumerated().reversed() { future.fill(with: index) }
        let (a, b, c, d, e, g, h, i) = eight.peek()!
        #expect([a, b, c, d, e, g, h, i] == Array(0..<8))
    }

    @Test func `a zip keeps values, but no futures, and frees all when one of these goes unfilled`() {
        let lifetimes = Lifetimes()
        let (a, futures) = (Deferred<Lifetimes.Token>(), Lifetimes())
        var b: Deferred<Lifetimes.Token>? = Deferred()
        b?.upon(.immediate) { [token = futures.make()] _ in token.touch() }
        let zipped = zip(a, b!)
        zipped.upon(.immediate) { [token = lifetimes.make()] _ in token.touch() }
        a.fill(with: lifetimes.make())
        #expect((lifetimes.count, futures.count) == (2, 1))
        b = nil
        #expect(futures.count == 0)
        #expect(lifetimes.count == 1, "the value of a belongs to a future that is still held")
        withExtendedLifetime(zipped) {}
    }

    @Test func `a filled zip keeps each value once`() {
        let lifetimes = Lifetimes()
        var zipped: Future<(Lifetimes.Token, Int)>?
        do {
            let (a, b) = (Deferred<Lifetimes.Token>(), Deferred<Int>())
            zipped = zip(a, b)
            a.fill(with: lifetimes.make())
            b.fill(with: 1)
        }
        #expect(lifetimes.count == 1)
        #expect(zipped?.isFilled == true)
        zipped = nil
        #expect(lifetimes.count == 0)
    }

    @Test func `a chain of 100,000 zips is filled, and dropped, without overflow`() {
        for isFilled in [true, false] {
            let lifetimes = Lifetimes()
            do {
                let head = Deferred<Int>()
                var tail = head.future
                for _ in 0..<100_000 { tail = zip(tail, Future(value: 1)).map { $0 + $1 } }
                tail.upon(.immediate) { [token = lifetimes.make()] _ in token.touch() }
                if isFilled { head.fill(with: 0) }
                #expect(tail.peek() == (isFilled ? 100_000 : nil))
            }
            #expect(lifetimes.count == 0)
        }
    }

    @Test func `three threads fill the futures of a zip: one of them fills it`() {
        let rounds = 20_000
        let inputs = (0..<rounds).map { _ in (Deferred<Int>(), Deferred<Int>(), Deferred<Int>()) }
        let results = inputs.map { zip($0, $1, $2) }
        race(3) { thread in
            for (a, b, c) in inputs { [a, b, c][thread].fill(with: thread) }
        }
        #expect(results.allSatisfy { $0.peek().map { $0 == (0, 1, 2) } == true })
    }
}
