import DeferredCore
import Synchronization
import TestSupport
import Testing

@Suite(.ownThread, .timeLimit(.minutes(5)))
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

    #if os(macOS) || os(Linux)
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
    #endif

    @Test func `8 threads race to fill with an Int`() {
        raceToFill((0..<8).map { $0 }) { $0 == $1 }
    }

    @Test func `8 threads race to fill with a String`() {
        raceToFill((0..<8).map { "thread \($0), with more text than fits into the string itself" }) { $0 == $1 }
    }

    @Test func `8 threads race to fill with an object`() {
        raceToFill((0..<8).map(Box.init)) { $0 === $1 }
    }

    @Test func `8 threads race to fill with a struct of 64 bytes`() {
        #expect(MemoryLayout<Wide>.size == 64)
        raceToFill((0..<8).map(Wide.init)) { $0 == $1 }
    }

    /// Fills each of 100,000 futures from 8 threads with a different value each: as soon as their calls have returned,
    /// all threads see the same one of the 8 values, and only the call of the thread with that value has returned true.
    func raceToFill<Value: Sendable>(
        _ values: [Value],
        areEqual: @escaping @Sendable (Value, Value) -> Bool
    ) {
        let (rounds, batch) = isSanitized ? (5_000, 1_000) : (100_000, 10_000)
        let futures = Lock<[Deferred<Value>]>([])
        let winners = Lock<[Int?]>([])
        let gate = Gate(values.count)
        let wrong = Atomic(0)
        race(values.count) { thread in
            for _ in 0..<rounds / batch {
                if thread == 0 {
                    futures.withLock { $0 = (0..<batch).map { _ in Deferred() } }
                    winners.withLock { $0 = Array(repeating: nil, count: batch) }
                }
                gate.pass()
                let seen = futures.withLock({ $0 }).map { future -> Int? in
                    let isWinner = future.fill(with: values[thread])
                    guard let value = future.peek() else { return nil }
                    let isMine = areEqual(value, values[thread])
                    guard isMine == isWinner else { return nil }
                    return isMine ? thread : values.firstIndex { areEqual($0, value) }
                }
                winners.withLock { winners in
                    for (index, seen) in seen.enumerated() {
                        if winners[index] == nil { winners[index] = seen }
                        if seen == nil || winners[index] != seen { wrong.add(1, ordering: .relaxed) }
                    }
                }
                gate.pass()
            }
        }
        #expect(wrong.load(ordering: .relaxed) == 0)
    }
}

private final class Box: Sendable {
    let index: Int
    init(_ index: Int) { self.index = index }
}

private struct Wide: Sendable, Equatable {
    var (a, b, c, d, e, f, g, h): (Int, Int, Int, Int, Int, Int, Int, Int)

    init(_ value: Int) { (a, b, c, d, e, f, g, h) = (value, value, value, value, value, value, value, value) }
}
