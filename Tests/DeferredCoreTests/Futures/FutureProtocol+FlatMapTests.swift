import DeferredCore
import Dispatch
import TestSupport
import Testing

@Suite(.ownThread, .timeLimit(.minutes(5)))
struct FutureProtocolFlatMapTests {
    @Test func `flatMap waits for both futures, whichever comes first`() {
        for innerFirst in [false, true] {
            let outer = Deferred<Int>()
            let inner = Deferred<String>()
            let result = outer.flatMap { value in inner.map { "\(value)\($0)" } }
            if innerFirst { inner.fill(with: "b") } else { outer.fill(with: 1) }
            #expect(result.peek() == nil)
            if innerFirst { outer.fill(with: 1) } else { inner.fill(with: "b") }
            #expect(result.peek() == "1b")
        }
        #expect(Future(value: 1).flatMap { Deferred(filledWith: $0 + 1) }.peek() == 2)
    }

    @Test func `flatMap runs its closure on its executor`() async {
        let queue = DispatchQueue(label: "flatMap")
        let key = DispatchSpecificKey<Int>()
        queue.setSpecific(key: key, value: 5)
        let deferred = Deferred<Int>()
        let before = deferred.flatMap(on: queue) { _ in Future(value: DispatchQueue.getSpecific(key: key)) }
        deferred.fill(with: 1)
        let after = deferred.flatMap(on: queue) { _ in Future(value: DispatchQueue.getSpecific(key: key)) }
        #expect(await before.value == 5)
        #expect(await after.value == 5)
    }

    @Test func `handlers of the result can be cancelled while the inner future is awaited`() {
        let (outer, inner) = (Deferred<Int>(), Deferred<Int>())
        let log = Log<String>()
        let result = Holder(outer.flatMap { _ in inner })
        let first = result.future?.upon(.immediate) { _ in log.add("first") }
        result.future?.upon(.immediate) { _ in log.add("second") }
        result.future = nil
        outer.fill(with: 1)
        first?.cancel()
        inner.fill(with: 2)
        #expect(log.entries == ["second"])
    }

    @Test func `a chain of 200,000 flatMaps is filled`() {
        let head = Deferred<Int>()
        var tail = head.future
        for _ in 0..<200_000 { tail = tail.flatMap { Future(value: $0 + 1) } }
        head.fill(with: 0)
        #expect(tail.peek() == 200_000)
    }

    @Test func `a chain of 200,000 flatMaps that wait for one inner future is filled`() {
        let (head, inner) = (Deferred<Int>(), Deferred<Int>())
        var tail = head.future
        for _ in 0..<200_000 { tail = tail.flatMap { value in inner.map { $0 + value } } }
        head.fill(with: 0)
        #expect(tail.peek() == nil)
        inner.fill(with: 1)
        #expect(tail.peek() == 200_000)
    }

    @Test func `a chain of 200,000 flatMaps is dropped`() {
        let lifetimes = Lifetimes()
        do {
            let head = Deferred<Int>()
            var tail = head.future
            for _ in 0..<200_000 { tail = tail.flatMap { Future(value: $0 + 1) } }
            tail.upon(.immediate) { [token = lifetimes.make()] _ in token.touch() }
        }
        #expect(lifetimes.count == 0)
    }

    @Test func `a chain of futures that adopted each other is dropped`() {
        let lifetimes = Lifetimes()
        do {
            let inner = Deferred<Int>()
            var tail = inner.future
            for _ in 0..<100_000 {
                let next = tail
                tail = Future(value: 1).map { $0 }.flatMap { _ in next }
            }
            tail.upon(.immediate) { [token = lifetimes.make()] _ in token.touch() }
        }
        #expect(lifetimes.count == 0)
    }

    #if os(macOS) || os(Linux)
    @Test func `a loop of 300,000 turns over filled futures runs in constant stack and memory`() async {
        await #expect(processExitsWith: .success) {
            @Sendable func count(_ turns: Int) -> Future<Int> {
                Future(value: turns).flatMap { $0 == 0 ? Future(value: -1) : count($0 - 1) }
            }
            _ = count(10_000)
            let before = residentMemory()
            precondition(count(isSanitized ? 30_000 : 300_000).peek() == -1)
            let growth = residentMemory() - before
            precondition(growth < 6 << 20 || isSanitized, "\(growth) bytes more than before")
        }
    }

    @Test func `a loop of 300,000 turns that each wait runs in constant stack and memory`() async {
        await #expect(processExitsWith: .success) {
            let pending = Holder<Deferred<Int>>(nil)
            @Sendable func step(_ turn: Int) -> Future<Int> {
                let deferred = Deferred<Int>()
                pending.future = deferred
                return deferred.future
            }
            @Sendable func count(_ turns: Int) -> Future<Int> {
                step(turns).flatMap { $0 == 0 ? Future(value: -1) : count($0 - 1) }
            }
            func run(_ turns: Int) {
                let result = count(turns)
                for turn in stride(from: turns, through: 0, by: -1) { pending.future?.fill(with: turn) }
                precondition(result.peek() == -1)
            }
            run(10_000)
            let before = residentMemory()
            run(isSanitized ? 30_000 : 300_000)
            let growth = residentMemory() - before
            precondition(growth < 6 << 20 || isSanitized, "\(growth) bytes more than before")
        }
    }
    #endif

    @Test func `handlers of a future that two flatMaps wait for can be cancelled`() {
        let (up, inner) = (Deferred<Int>(), Deferred<Int>())
        let log = Log<String>()
        let first = up.upon(.immediate) { _ in log.add("first") }
        let results = (0..<2).map { index in up.flatMap { _ in inner } }
        for (index, result) in results.enumerated() { result.upon(.immediate) { log.add("\(index) \($0)") } }
        first.cancel()
        let last = inner.upon(.immediate) { _ in log.add("last") }
        up.fill(with: 0)
        last.cancel()
        inner.fill(with: 1)
        #expect(log.entries == ["0 1", "1 1"])
    }

    @Test func `several handlers of a future that two flatMaps wait for can be cancelled`() {
        for (one, other) in [(0, 1), (1, 0), (0, 2), (2, 0), (1, 2), (2, 1)] {
            let (up, inner) = (Deferred<Int>(), Deferred<Int>())
            let log = Log<String>()
            let first = up.upon(.immediate) { _ in log.add("first") }
            let results = (0..<2).map { index in up.flatMap { _ in inner } }
            first.cancel()
            let handlers = (0..<3).map { index in inner.upon(.immediate) { _ in log.add("\(index)") } }
            up.fill(with: 0)
            handlers[one].cancel()
            handlers[other].cancel()
            inner.fill(with: 1)
            #expect(log.entries == ["\(3 - one - other)"])
            #expect(results.map { $0.peek() } == [1, 1])
        }
    }

    @Test func `a closure whose inner future goes unfilled is released once`() {
        let lifetimes = Lifetimes()
        let up = Deferred<Int>()
        do {
            let result = up.flatMap { [token = lifetimes.make()] _ in
                token.touch()
                return Deferred<Int>()
            }
            result.upon(.immediate) { [token = lifetimes.make()] _ in token.touch() }
            up.fill(with: 0)
            #expect(result.peek() == nil)
        }
        #expect(lifetimes.count == 0)
    }

    @Test(arguments: 1...100)
    func `a flatMap on a filled future is filled at once, however deeply it is nested`(depth: Int) {
        @Sendable func nested(_ depth: Int, _ body: @escaping @Sendable () -> Void) {
            if depth == 0 { return body() }
            let deferred = Deferred<Int>()
            deferred.upon(.immediate) { _ in nested(depth - 1, body) }
            deferred.fill(with: depth)
        }
        let log = Log<Bool>()
        nested(depth) {
            @Sendable func make() -> Future<Int> { Future(value: 1).flatMap { Future(value: $0 + 1) } }
            log.add(make().peek() == 2)
            log.add(make().isFilled)
            log.add(make().map { $0 }.wait(until: .now() + 60) == 2)
            let deferred = Deferred<Int>()
            let result = deferred.map { $0 + 1 }.flatMap { Future(value: $0) }
            deferred.fill(with: 1)
            log.add(result.peek() == 2)
        }
        #expect(log.entries == [true, true, true, true])
    }

    #if os(macOS) || os(Linux)
    @Test func `a loop over a queue runs in constant memory`() async {
        await #expect(processExitsWith: .success) {
            let queue = DispatchQueue(label: "loop")
            @Sendable func count(_ turns: Int) -> Future<Int> {
                Future(value: turns).flatMap(on: queue) { $0 == 0 ? Future(value: -1) : count($0 - 1) }
            }
            _ = await count(10_000).value
            let before = residentMemory()
            let result = await count(isSanitized ? 30_000 : 300_000).value
            precondition(result == -1)
            let growth = residentMemory() - before
            precondition(growth < 6 << 20 || isSanitized, "\(growth) bytes more than before")
        }
    }
    #endif
}

/// SAFETY: used from one thread.
private final class Holder<Held: Sendable>: @unchecked Sendable {
    var future: Held?
    init(_ future: Held?) { self.future = future }
}
