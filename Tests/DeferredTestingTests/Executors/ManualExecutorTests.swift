import DeferredCore
import DeferredTesting
import Synchronization
import TestSupport
import Testing

@Suite(.ownThread, .timeLimit(.minutes(5)))
struct ManualExecutorTests {
    @Test func `closures run only on request, one at a time, in order`() {
        let (executor, log) = (ManualExecutor(), Log<Int>())
        for index in 0..<3 { executor.submit { log.add(index) } }
        #expect(log.entries.isEmpty)
        #expect(executor.count == 3)
        #expect(executor.run())
        #expect(log.entries == [0])
        #expect(executor.count == 2)
        #expect(executor.run() && executor.run())
        #expect(!executor.run())
        #expect(log.entries == [0, 1, 2])
        #expect(executor.count == 0)
    }

    @Test func `runAll runs what is submitted meanwhile, in order, and counts it`() {
        let (executor, log) = (ManualExecutor(), Log<String>())
        executor.submit {
            log.add("first")
            executor.submit {
                log.add("inner")
                executor.submit { log.add("innermost") }
            }
        }
        executor.submit { log.add("second") }
        #expect(executor.runAll() == 4)
        #expect(log.entries == ["first", "second", "inner", "innermost"])
        #expect(executor.runAll() == 0)
    }

    @Test func `a closure may itself run those behind it`() {
        let (executor, log) = (ManualExecutor(), Log<Int>())
        executor.submit {
            executor.run()
            log.add(1)
        }
        executor.submit { log.add(2) }
        executor.submit { log.add(3) }
        #expect(executor.runAll() == 2)
        #expect(log.entries == [2, 1, 3])
    }

    @Test func `removeAll releases waiting closures, also from within runAll`() {
        let (executor, log, lifetimes) = (ManualExecutor(), Log<Int>(), Lifetimes())
        executor.submit {
            log.add(1)
            executor.removeAll()
            #expect(lifetimes.count == 0)
            executor.submit { log.add(3) }
        }
        executor.submit { [token = lifetimes.make()] in
            token.touch()
            log.add(2)
        }
        #expect(executor.runAll() == 2)
        #expect(log.entries == [1, 3])
    }

    @Test func `captures go as soon as a closure has run, and with the executor`() {
        let lifetimes = Lifetimes()
        var executor: ManualExecutor? = ManualExecutor()
        for _ in 0..<2 { executor?.submit { [token = lifetimes.make()] in token.touch() } }
        executor?.run()
        #expect(lifetimes.count == 1)
        executor = nil
        #expect(lifetimes.count == 0)
    }

    @Test func `handlers that wait keep their executor, until they are removed`() {
        let lifetimes = Lifetimes()
        weak var discarded: ManualExecutor?
        do {
            let (executor, answer) = (ManualExecutor(), Deferred<Int>())
            answer.map(on: executor) { $0 }.upon(executor) { [token = lifetimes.make()] _ in token.touch() }
            answer.fill(with: 42)
            discarded = executor
        }
        #expect(lifetimes.count == 1)
        discarded?.removeAll()
        #expect(lifetimes.count == 0)
        #expect(discarded == nil)
    }

    @Test func `captures of a removed closure may submit closures in their deinit`() {
        final class Submitter: Sendable {
            let executor: ManualExecutor
            init(_ executor: ManualExecutor) { self.executor = executor }
            deinit { executor.submit {} }
        }
        let executor = ManualExecutor()
        executor.submit { [submitter = Submitter(executor)] in withExtendedLifetime(submitter) {} }
        executor.removeAll()
        #expect(executor.count == 1)
    }

    @Test func `4 threads that submit and run, run each closure once`() {
        let executor = ManualExecutor()
        let calls = Atomic(0)
        let (threads, each) = (4, 5_000)
        race(threads) { _ in
            for index in 0..<each {
                executor.submit { calls.add(1, ordering: .relaxed) }
                if !index.isMultiple(of: 3) { executor.run() }
            }
            executor.runAll()
        }
        #expect(calls.load(ordering: .relaxed) == threads * each)
        #expect(executor.count == 0)
    }

    @Test func `handlers of a future wait for it`() {
        let (executor, log, answer) = (ManualExecutor(), Log<Int>(), Deferred<Int>())
        let taken = answer.upon(executor) { log.add($0) }
        answer.map(on: executor) { $0 + 1 }.upon(.immediate) { log.add($0) }
        answer.fill(with: 42)
        #expect(executor.count == 2)
        taken.cancel()
        executor.runAll()
        #expect(log.entries == [43])
    }
}
