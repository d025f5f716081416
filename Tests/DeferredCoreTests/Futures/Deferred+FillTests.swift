import DeferredCore
import Synchronization
import TestSupport
import Testing

@Suite(.timeLimit(.minutes(5)))
struct DeferredFillTests {
    @Test func `the first fill wins, the others change nothing`() {
        let deferred = Deferred<Int>()
        #expect(deferred.peek() == nil)
        #expect(!deferred.isFilled)
        #expect(deferred.fill(with: 1))
        #expect(!deferred.fill(with: 2))
        #expect(deferred.peek() == 1)
        #expect(deferred.isFilled)
        #expect(deferred.future.peek() == 1)
    }

    @Test func `a future can be made filled`() {
        #expect(Deferred(filledWith: "a").peek() == "a")
        #expect(!Deferred(filledWith: "a").fill(with: "b"))
        #expect(Future(value: "a").peek() == "a")
        #expect(Future<Int>.never.peek() == nil)
    }

    @Test func `a future of nothing is filled without an argument`() {
        let deferred = Deferred<Void>()
        #expect(deferred.fill())
        #expect(!deferred.fill())
        #expect(deferred.isFilled)
    }

    @Test func `an optional value can be nil and there`() {
        let deferred = Deferred<Int?>()
        deferred.fill(with: nil)
        #expect(deferred.isFilled)
        #expect(deferred.peek() == .some(nil))
    }

    @Test func `mustFill traps on the second`() async {
        await #expect(processExitsWith: .failure) {
            let deferred = Deferred<Int>()
            deferred.mustFill(with: 1)
            deferred.mustFill(with: 2)
        }
        await #expect(processExitsWith: .success) {
            Deferred<Int>().mustFill(with: 1)
        }
    }

    @Test func `8 threads race to fill with an Int`() {
        raceToFill {
            $0
        } index: {
            $0
        }
    }

    @Test func `8 threads race to fill with a String`() {
        raceToFill {
            "thread \($0), with more text than fits into the string itself"
        } index: {
            Int($0.dropFirst(7).prefix(1))
        }
    }

    @Test func `8 threads race to fill with an object`() {
        raceToFill {
            Box($0)
        } index: {
            $0.index
        }
    }

    @Test func `8 threads race to fill with a struct of 64 bytes`() {
        #expect(MemoryLayout<Wide>.size == 64)
        raceToFill {
            Wide($0)
        } index: {
            $0.index
        }
    }

    /// 200,000 futures, each filled by 8 threads: one wins, and every thread sees the winner's value as soon as its
    /// own call has returned.
    func raceToFill<Value: Sendable>(
        with value: @escaping @Sendable (Int) -> Value,
        index: @escaping @Sendable (Value) -> Int?
    ) {
        let (rounds, batch, threads) = (200_000, 500, 8)
        let futures = Lock<[Deferred<Value>]>([])
        let gate = Gate(threads)
        let wins = Lock([UInt8](repeating: 0, count: rounds))
        let wrong = Atomic(0)
        race(threads) { thread in
            for start in stride(from: 0, to: rounds, by: batch) {
                if thread == 0 { futures.withLock { $0 = (0..<batch).map { _ in Deferred() } } }
                gate.pass()
                let round = futures.withLock { $0 }
                let mine = value(thread)
                var won: [Int] = []
                for (offset, future) in round.enumerated() {
                    let isWinner = future.fill(with: mine)
                    if isWinner { won.append(start + offset) }
                    let seen = future.peek().flatMap(index)
                    if seen == nil || (seen == thread) != isWinner { wrong.add(1, ordering: .relaxed) }
                }
                wins.withLock { for index in won { $0[index] += 1 } }
                gate.pass()
            }
        }
        #expect(wins.withLock { $0.allSatisfy { $0 == 1 } })
        #expect(wrong.load(ordering: .relaxed) == 0)
    }
}

private final class Box: Sendable {
    let index: Int
    init(_ index: Int) { self.index = index }
}

private struct Wide: Sendable {
    var (a, b, c, d, e, f, g, h): (Int, Int, Int, Int, Int, Int, Int, Int)

    init(_ value: Int) { (a, b, c, d, e, f, g, h) = (value, value, value, value, value, value, value, value) }

    /// `nil` if it is torn.
    var index: Int? { [b, c, d, e, f, g, h].allSatisfy { $0 == a } ? a : nil }
}
