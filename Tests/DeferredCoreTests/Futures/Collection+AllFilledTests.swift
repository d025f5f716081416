import DeferredCore
import TestSupport
import Testing

@testable import DeferredCore

@Suite(.ownThread, .timeLimit(.minutes(5)))
struct CollectionAllFilledTests {
    @Test func `all values come in the order of the collection, whatever the order of filling`() {
        let futures = (0..<100).map { _ in Deferred<Int>() }
        let all = futures.allFilled()
        for index in futures.indices.shuffled() {
            #expect(all.peek() == nil)
            futures[index].fill(with: index)
        }
        #expect(all.peek() == Array(0..<100))
    }

    @Test func `an empty collection is filled at once, as are filled futures`() {
        #expect([Deferred<Int>]().allFilled().peek() == [])
        #expect([Future(value: 1), Future(value: 2)].allFilled().peek() == [1, 2])
        #expect([1: Future(value: "a")].values.allFilled().peek() == ["a"])
    }

    @Test func `filled and unfilled futures mix, and one may come twice`() {
        let deferred = Deferred<Int?>()
        let all = [deferred.future, Future(value: 2), deferred.future].allFilled()
        #expect(!all.isFilled)
        deferred.fill(with: nil)
        #expect(all.peek() == [nil, 2, nil])
    }

    #if os(macOS) || os(Linux)
    @Test func `a collection that lies about its count traps`() async {
        await #expect(processExitsWith: .failure) { _ = Lying(count: 1, elements: 2).allFilled() }
        await #expect(processExitsWith: .failure) { _ = Lying(count: 2, elements: 1).allFilled() }
        await #expect(processExitsWith: .success) { _ = Lying(count: 2, elements: 2).allFilled() }
    }
    #endif

    @Test func `values are kept until the result goes, and only once; when a future goes unfilled, so does all`() {
        let lifetimes = Lifetimes()
        var last: Deferred<Lifetimes.Token>? = Deferred()
        var all: Future<[Lifetimes.Token]>?
        do {
            let first = Deferred<Lifetimes.Token>()
            all = [first, last!].allFilled()
            first.fill(with: lifetimes.make())
        }
        #expect(lifetimes.count == 1)
        last?.fill(with: lifetimes.make())
        last = nil
        #expect(lifetimes.count == 2)
        #expect(all?.peek()?.count == 2)
        all = nil
        #expect(lifetimes.count == 0)

        do {
            let filled = Deferred<Lifetimes.Token>()
            let result = [filled.future, Deferred<Lifetimes.Token>().future].allFilled()
            result.upon(.immediate) { [token = lifetimes.make()] _ in token.touch() }
            filled.fill(with: lifetimes.make())
            #expect(!result.isFilled)
        }
        #expect(lifetimes.count == 0)
    }

    @Test func `nested collections, 100,000 deep, are filled, and dropped, without overflow`() {
        for isFilled in [true, false] {
            let lifetimes = Lifetimes()
            do {
                let head = Deferred<Int>()
                var tail = head.future
                for _ in 0..<100_000 { tail = [tail, Future(value: 1)].allFilled().map { $0[0] + $0[1] } }
                tail.upon(.immediate) { [token = lifetimes.make()] _ in token.touch() }
                if isFilled { head.fill(with: 0) }
                #expect(tail.peek() == (isFilled ? 100_000 : nil))
            }
            #expect(lifetimes.count == 0)
        }
    }

    @Test func `four threads fill the futures while they are being collected`() {
        for _ in 0..<100 {
            let futures = (0..<200).map { _ in Deferred<Int>() }
            let result = Lock<Future<[Int]>?>(nil)
            race(4) { thread in
                if thread == 0 {
                    let all = futures.allFilled()
                    result.withLock { $0 = all }
                }
                for index in stride(from: thread, to: 200, by: 4) { futures[index].fill(with: index) }
            }
            #expect(result.withLock { $0 }?.peek() == Array(0..<200))
        }
    }
}

private struct Lying: Collection {
    let count: Int
    let elements: Int
    var startIndex: Int { 0 }
    var endIndex: Int { elements }
    subscript(_: Int) -> Future<Int> { .never }
    func index(after index: Int) -> Int { index + 1 }
}
