import DeferredCore
import TestSupport
import Testing

/// Tests that an executor which breaks its contract breaks nothing else.
@Suite(.ownThread, .timeLimit(.minutes(1)))
struct OddExecutorTests {
    @Test func `an executor that runs closures twice has no effect the second time`() {
        let log = Log<Int>()
        for isFilled in [false, true] {
            let deferred = Deferred<Int>()
            if isFilled { deferred.fill(with: 1) }
            let mapped = deferred.map(on: Twice()) { value in
                log.add(value)
                return [value]
            }
            let flatMapped = deferred.flatMap(on: Twice()) { value in
                log.add(value + 1)
                return Deferred(filledWith: [value])
            }
            let waiting = Deferred<[Int]>()
            let late = deferred.flatMap(on: Twice()) { _ in waiting }
            deferred.upon(Twice()) { log.add($0 + 2) }
            deferred.fill(with: 1)
            waiting.fill(with: [3])
            #expect(mapped.peek() == [1])
            #expect(flatMapped.peek() == [1])
            #expect(late.peek() == [3])
        }
        #expect(log.entries == [1, 2, 3, 1, 2, 3])
    }

    @Test func `an executor that drops closures frees their futures, also those derived from a held one`() {
        let lifetimes = Lifetimes()
        let deferred = Deferred<Int>()
        let mapped = deferred.map(on: Dropping()) { [token = lifetimes.make()] value in
            token.touch()
            return value
        }
        mapped.upon(.immediate) { [token = lifetimes.make()] _ in token.touch() }
        deferred.upon(Dropping()) { [token = lifetimes.make()] _ in token.touch() }
        #expect(lifetimes.count == 3)
        deferred.fill(with: 1)
        #expect(lifetimes.count == 0)
        #expect(mapped.peek() == nil)
        mapped.upon(.immediate) { [token = lifetimes.make()] _ in token.touch() }
        #expect(lifetimes.count == 0)
    }

    @Test func `handlers of a held future are freed when what it was derived from goes unfilled`() {
        let lifetimes = Lifetimes()
        func captured() -> @Sendable (Int) -> Void {
            { [token = lifetimes.make()] _ in token.touch() }
        }
        let other = Deferred<Int>()
        let futures = [
            Deferred<Int>().map { $0 }.map { $0 },
            other.flatMap { _ in Deferred<Int>() },
            zip(Deferred<Int>(), other).map { $0 + $1 },
            [Deferred<Int>(), Deferred<Int>()].firstFilled().map { $0 },
        ]
        for future in futures { future.upon(.immediate, execute: captured()) }
        // The handler of the `flatMap` is released only once its inner future has been made.
        #expect(lifetimes.count == 1)
        other.fill(with: 1)
        #expect(lifetimes.count == 0)
        for future in futures { future.upon(.immediate, execute: captured()) }
        #expect(lifetimes.count == 0)
    }
}

private struct Twice: Executor {
    func submit(_ body: @escaping @Sendable () -> Void) {
        body()
        body()
    }
}

private struct Dropping: Executor {
    func submit(_ body: @escaping @Sendable () -> Void) {}
}
