import DeferredCore
import DeferredTesting
import Synchronization
import TestSupport
import Testing

@testable import DeferredTask

@Suite(.ownThread, .timeLimit(.minutes(5)))
struct CancellationTokenTests {
    @Test func `handlers are called once, newest first, and released`() {
        let (lifetimes, log) = (Lifetimes(), Log<Int>())
        let source = CancellationTokenSource()
        for index in 0..<3 {
            source.token.register { [token = lifetimes.make()] in
                token.touch()
                log.add(index)
            }
        }
        #expect(!source.isCancelled)
        source.cancel()
        source.cancel()
        #expect(log.entries == [2, 1, 0])
        #expect(lifetimes.count == 0)
        #expect(source.isCancelled && source.token.isCancelled)
    }

    @Test func `a handler registered after cancelling runs at once`() {
        let (source, log) = (CancellationTokenSource(), Log<Int>())
        source.cancel()
        source.token.register { log.add(1) }
        #expect(log.entries == [1])
        #expect(throws: CancellationError.self) { try source.token.checkCancellation() }
    }

    @Test func `asking whether something was cancelled runs no handler that this thread has put off`() {
        let (source, task) = (CancellationTokenSource(), Task<Int>.never)
        let lock = Lock((isHeld: false, count: 0))
        let futures = (0...40).map { _ in Deferred<Int>() }
        for index in 0..<40 {
            futures[index].upon(.immediate) { value in
                futures[index + 1].fill(with: value)
                // As under a lock that is not recursive.
                #expect(lock.withLock { !$0.isHeld })
                lock.withLock { $0.isHeld = true }
                #expect(!source.isCancelled && !source.token.isCancelled && !task.isCancelled)
                lock.withLock { $0 = (false, $0.count + 1) }
            }
        }
        futures[0].fill(with: 0)
        #expect(lock.withLock { $0.count } == 40)
    }

    @Test func `a handler can be cancelled, and releases its captures at once`() {
        let (source, lifetimes) = (CancellationTokenSource(), Lifetimes())
        let registration = source.token.register { [token = lifetimes.make()] in
            token.touch()
            Issue.record("taken back")
        }
        registration.cancel()
        #expect(lifetimes.count == 0)
        source.cancel()
    }

    @Test func `a source that goes frees its handlers, and its tokens are never cancelled`() {
        let lifetimes = Lifetimes()
        var source: CancellationTokenSource? = CancellationTokenSource()
        let token = source?.token ?? .none
        token.register { [token = lifetimes.make()] in token.touch() }
        source = nil
        #expect(lifetimes.count == 0)
        #expect(!token.isCancelled)
        token.register { [token = lifetimes.make()] in token.touch() }
        #expect(lifetimes.count == 0)
    }

    @Test func `the token none is never cancelled, and keeps nothing`() throws {
        let lifetimes = Lifetimes()
        CancellationToken.none.register { [token = lifetimes.make()] in token.touch() }
        #expect(lifetimes.count == 0)
        #expect(!CancellationToken.none.isCancelled)
        try CancellationToken.none.checkCancellation()
        #expect(MemoryLayout<CancellationToken>.size == MemoryLayout<Int>.size)
    }

    @Test func `a linked source is cancelled with the first of its tokens`() {
        let (first, second) = (CancellationTokenSource(), CancellationTokenSource())
        let linked = CancellationTokenSource(linkedTo: first.token, second.token)
        let log = Log<String>()
        linked.token.register { log.add("linked") }
        second.cancel()
        first.cancel()
        #expect(log.entries == ["linked"])
        #expect(CancellationTokenSource(linkedTo: first.token).isCancelled)

        let own = CancellationTokenSource()
        CancellationTokenSource(linkedTo: own.token).cancel()
        #expect(!own.isCancelled)
    }

    @Test func `linked sources that went leave nothing with a token of long life`() {
        let (root, lifetimes) = (CancellationTokenSource(), Lifetimes())
        for _ in 0..<10_000 {
            let linked = CancellationTokenSource(linkedTo: root.token)
            linked.token.register { [token = lifetimes.make()] in token.touch() }
        }
        #expect(lifetimes.count == 0)
        #expect(!root.hasHandlers)
    }

    @Test func `100,000 short operations leave nothing with a token of long life`() {
        let source = CancellationTokenSource()
        for _ in 0..<100_000 { source.token.register {}.cancel() }
        #expect(!source.hasHandlers)
    }

    @Test func `tasks cancelled by a token leave nothing with it when they end`() {
        let (source, log) = (CancellationTokenSource(), Log<Int>())
        for index in 0..<1000 {
            let producer = Deferred<Task<Int>.Result>()
            let task = Task(producer) { log.add(index) }.map { $0 }.cancelled(by: source.token)
            // Half of the tasks end; the others are dropped.
            if index.isMultiple(of: 2) { producer.succeed(with: index) }
            withExtendedLifetime(task) {}
        }
        #expect(!source.hasHandlers)
        let producer = Deferred<Task<Int>.Result>()
        let task = Task(producer) { log.add(-1) }.map { $0 }.cancelled(by: source.token)
        source.cancel()
        #expect(log.entries == [-1])
        #expect(task.isCancelled)
        #expect(Task(Deferred<Task<Int>.Result>()).cancelled(by: source.token).isCancelled)
    }

    @Test func `a task cancelled by several tokens leaves nothing with any of them when it ends`() {
        let sources = (0..<3).map { _ in CancellationTokenSource() }
        let promise = Task<Int>.Promise()
        let task = sources.reduce(Task(promise)) { $0.cancelled(by: $1.token) }
        #expect(sources.count { $0.hasHandlers } == 3)
        promise.succeed(with: 1)
        withExtendedLifetime(task) { #expect(sources.count { $0.hasHandlers } == 0) }
        for source in sources {
            let promise = Task<Int>.Promise()
            let task = sources.reduce(Task(promise)) { $0.cancelled(by: $1.token) }
            source.cancel()
            withExtendedLifetime(promise) { #expect(task.isCancelled) }
        }
    }

    @Test func `a token that is never cancelled leaves a task plain, so that it can still be skipped in a loop`() {
        let task = Task(Deferred<Task<Int>.Result>()).cancelled(by: .none)
        func isUnobserved(_ task: Task<Int>) -> Bool? { task.handle?.node.withLock { $0.isUnobserved } }
        #expect(isUnobserved(task) == true)
        withExtendedLifetime(CancellationTokenSource()) {
            #expect(isUnobserved(task.cancelled(by: $0.token)) == false)
        }
    }

    @Test func `no lock is held while handlers run`() {
        let source = CancellationTokenSource()
        let log = Log<String>()
        let last = source.token.register { log.add("never") }
        source.token.register {
            source.cancel()
            last.cancel()
            source.token.register { log.add("inner") }
        }
        source.cancel()
        #expect(log.entries == ["inner"])
    }

    @Test func `registering, taking back and cancelling on 4 threads calls each handler once or never`() {
        for _ in 0..<200 {
            let source = CancellationTokenSource()
            let calls = Atomic(0)
            let kept = Atomic(0)
            race(4) { thread in
                for index in 0..<20 {
                    if thread == 0, index == 10 { source.cancel() }
                    let registration = source.token.register { calls.add(1, ordering: .relaxed) }
                    if index.isMultiple(of: 2) { registration.cancel() }
                    if !registration.isCancelled { kept.add(1, ordering: .relaxed) }
                }
            }
            #expect(calls.load(ordering: .relaxed) == kept.load(ordering: .relaxed))
        }
    }

    @Test func `cancel(after:) cancels when its clock says so`() async {
        let source = CancellationTokenSource()
        source.cancel(after: .zero)
        let cancelled = Deferred<Void>()
        source.token.register { cancelled.fill() }
        await cancelled.value
        #expect(source.isCancelled)
    }

    @Test func `the timer of cancel(after:) can be cancelled`() async throws {
        let (source, clock) = (CancellationTokenSource(), ManualClock())
        let registrations = [
            source.cancel(after: .seconds(5), clock: clock), source.cancel(after: .seconds(3_600)),
        ]
        try await clock.waitForSleepers()
        for registration in registrations {
            #expect(!registration.isCancelled)
            registration.cancel()
            #expect(registration.isCancelled)
        }
        #expect(!source.hasHandlers)
        clock.advance(by: .seconds(5))
        try await eventually { clock.sleeperCount == 0 }
        #expect(!source.isCancelled)
    }

    @Test func `a timer that has fired can't be cancelled`() async throws {
        let (source, clock, cancelled) = (CancellationTokenSource(), ManualClock(), Deferred<Void>())
        source.token.register { cancelled.fill() }
        let late = source.cancel(after: .seconds(3_600))
        let registration = source.cancel(after: .seconds(5), clock: clock)
        try await clock.waitForSleepers()
        clock.advance(by: .seconds(5))
        await cancelled.value
        registration.cancel()
        #expect(!registration.isCancelled)
        late.cancel()
        #expect(!source.hasHandlers && source.isCancelled)
    }

    @Test func `a source that goes, or is cancelled, takes its timers with it`() async throws {
        let clock = ManualClock()
        do {
            let source = CancellationTokenSource()
            source.cancel(after: .seconds(5), clock: clock)
            try await clock.waitForSleepers()
        }
        try await eventually { clock.sleeperCount == 0 }
        let source = CancellationTokenSource()
        source.cancel(after: .seconds(5), clock: clock)
        try await clock.waitForSleepers()
        source.cancel()
        try await eventually { clock.sleeperCount == 0 }
        source.cancel(after: .seconds(5), clock: clock)
        #expect(clock.sleeperCount == 0)
    }
}

extension CancellationTokenSource {
    fileprivate var hasHandlers: Bool { state.hasHandlers }
}
