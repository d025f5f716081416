import DeferredCore
import Dispatch
import TestSupport
import Testing

@Suite(.ownThread, .timeLimit(.minutes(5)))
struct FutureProtocolMapTests {
    @Test func `map transforms the value, before and after the fill`() {
        let deferred = Deferred<Int>()
        let mapped = deferred.map { "\($0)" }
        #expect(mapped.peek() == nil)
        deferred.fill(with: 1)
        #expect(mapped.peek() == "1")
        #expect(deferred.map { $0 + 1 }.map { $0 * 10 }.peek() == 20)
    }

    @Test func `map runs its closure once, on its executor`() async {
        let queue = DispatchQueue(label: "map")
        let key = DispatchSpecificKey<Int>()
        queue.setSpecific(key: key, value: 5)
        let deferred = Deferred<Int>()
        let log = Log<Int>()
        let mapped = deferred.map(on: queue) { value in
            log.add(value)
            return DispatchQueue.getSpecific(key: key)
        }
        deferred.fill(with: 1)
        #expect(await mapped.value == 5)
        #expect(await deferred.map(on: queue) { _ in DispatchQueue.getSpecific(key: key) }.value == 5)
        #expect(log.entries == [1])
    }

    @Test func `closures are released when they have run, and when their future is dropped`() {
        let lifetimes = Lifetimes()
        var deferred: Deferred<Int>? = Deferred()
        let mapped = deferred?.map { [token = lifetimes.make()] value in
            token.touch()
            return value
        }
        deferred?.fill(with: 1)
        #expect(lifetimes.count == 0)
        deferred = Deferred()
        let orphan = deferred?.map { [token = lifetimes.make()] value in
            token.touch()
            return value
        }
        #expect(lifetimes.count == 1)
        deferred = nil
        #expect(lifetimes.count == 0)
        #expect(orphan?.isFilled == false)
        withExtendedLifetime((mapped, orphan)) {}
    }

    @Test func `handlers of a future run before those of the futures behind it`() {
        let deferred = Deferred<Int>()
        let log = Log<String>()
        deferred.map { $0 }.upon(.immediate) { _ in log.add("mapped") }
        deferred.upon(.immediate) { _ in log.add("direct") }
        deferred.fill(with: 1)
        #expect(log.entries == ["direct", "mapped"])
    }

    @Test func `a chain of 200,000 maps is filled`() {
        let head = Deferred<Int>()
        var tail = head.future
        for _ in 0..<200_000 { tail = tail.map { $0 + 1 } }
        head.fill(with: 0)
        #expect(tail.peek() == 200_000)
    }

    @Test func `a chain of 200,000 maps is dropped from its head`() {
        let lifetimes = Lifetimes()
        var head: Deferred<Int>? = Deferred()
        var tail = head?.map { [token = lifetimes.make()] value in
            token.touch()
            return value
        }
        for _ in 0..<200_000 { tail = tail?.map { $0 + 1 } }
        tail = tail?.map { [token = lifetimes.make()] value in
            token.touch()
            return value
        }
        #expect(lifetimes.count == 2)
        tail = nil
        head = nil
        #expect(lifetimes.count == 0)
    }

    @Test func `a tree of futures is dropped`() {
        let lifetimes = Lifetimes()
        do {
            let head = Deferred<Int>()
            for _ in 0..<10 {
                let branch = head.map { $0 }
                for _ in 0..<10 {
                    branch.map { $0 }.upon(.immediate) { [token = lifetimes.make()] _ in token.touch() }
                }
            }
            #expect(lifetimes.count == 100)
        }
        #expect(lifetimes.count == 0)
    }
}
