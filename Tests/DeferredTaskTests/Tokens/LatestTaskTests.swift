import DeferredCore
import DeferredTask
import DeferredTesting
import TestSupport
import Testing

@Suite(.ownThread, .timeLimit(.minutes(5)))
struct LatestTaskTests {
    private typealias Producer = Deferred<Task<Int>.Result>

    @Test func `only the latest result is delivered`() {
        let (latest, log) = (LatestTask<Int>(), Log<String>())
        let producers = (0..<3).map { _ in Producer() }
        for (index, producer) in producers.enumerated() {
            latest.start(Task(producer) { log.add("cancel \(index)") }, on: .immediate) { log.add("\($0)") }
        }
        producers[1].succeed(with: 1)
        producers[2].succeed(with: 2)
        producers[0].succeed(with: 0)
        #expect(log.entries == ["cancel 0", "cancel 1", "success(2)"])
    }

    @Test func `a result that was there, with its delivery queued, is not delivered when superseded`() {
        let (latest, log, executor) = (LatestTask<Int>(), Log<String>(), ManualExecutor())
        let (old, new) = (Producer(), Producer())
        latest.start(Task(old), on: executor) { log.add("\($0)") }
        old.succeed(with: 1)
        latest.start(Task(new), on: executor) { log.add("\($0)") }
        executor.runAll()
        #expect(log.entries.isEmpty)
        new.succeed(with: 2)
        executor.runAll()
        #expect(log.entries == ["success(2)"])
    }

    @Test func `an ended task that is started is delivered, and not kept`() {
        let (latest, lifetimes) = (LatestTask<Lifetimes.Token>(), Lifetimes())
        let log = Log<Bool>()
        latest.start(.success(lifetimes.make()), on: .immediate) { log.add((try? $0.get()) != nil) }
        #expect(log.entries == [true])
        #expect(lifetimes.count == 0)
    }

    @Test func `a delivered task is not kept`() {
        let (latest, lifetimes) = (LatestTask<Lifetimes.Token>(), Lifetimes())
        do {
            let producer = Deferred<Task<Lifetimes.Token>.Result>()
            latest.start(Task(producer), on: .immediate) { _ in }
            producer.succeed(with: lifetimes.make())
        }
        #expect(lifetimes.count == 0)
    }

    @Test func `cancel stops the task, and delivers nothing`() {
        let (latest, log, producer) = (LatestTask<Int>(), Log<String>(), Producer())
        latest.start(Task(producer) { producer.fail(with: CancellationError()) }, on: .immediate) { log.add("\($0)") }
        latest.cancel()
        latest.cancel()
        #expect(log.entries.isEmpty)
        #expect(producer.isFilled)
    }

    @Test func `a delivery may start the next`() {
        let (latest, log) = (LatestTask<Int>(), Log<Int>())
        @Sendable func step(_ count: Int) {
            latest.start(.success(count), on: .immediate) { _ in
                log.add(count)
                if count > 0 { step(count - 1) }
            }
        }
        step(3)
        #expect(log.entries == [3, 2, 1, 0])
    }

    @Test func `starts on 4 threads leave one, which is delivered`() {
        for _ in 0..<300 {
            let (latest, log) = (LatestTask<Int>(), Log<Int>())
            let producers = (0..<4).map { _ in Producer() }
            race(4) { thread in latest.start(Task(producers[thread]), on: .immediate) { log.add((try? $0.get()) ?? -1) }
            }
            for (index, producer) in producers.enumerated() { producer.succeed(with: index) }
            #expect(log.entries.count == 1)
        }
    }

    @Test func `a result that is superseded while it is submitted is not delivered`() {
        let (latest, log) = (LatestTask<Int>(), Log<String>())
        let executor = Superseding { body in
            latest.start(.success(2), on: .immediate) { log.add("\($0)") }
            body()
        }
        latest.start(.success(1), on: executor) { log.add("\($0)") }
        #expect(log.entries == ["success(2)"])
    }

    @Test func `a result that is cancelled while it is submitted is not delivered`() {
        let (latest, log) = (LatestTask<Int>(), Log<String>())
        let executor = Superseding { body in
            latest.cancel()
            body()
        }
        latest.start(.success(1), on: executor) { log.add("\($0)") }
        #expect(log.entries.isEmpty)
    }

    @Test func `the result of a task that outlives it is delivered`() {
        let (log, producer) = (Log<String>(), Producer())
        LatestTask<Int>().start(Task(producer), on: .immediate) { log.add("\($0)") }
        producer.succeed(with: 1)
        #expect(log.entries == ["success(1)"])
    }

    @Test func `of ended tasks that race to be started, the latest is delivered, none twice, and none is kept`() {
        let lifetimes = Lifetimes()
        for _ in 0..<3_000 {
            let (latest, log) = (LatestTask<Lifetimes.Token>(), Log<Int>())
            race(3) { thread in
                latest.start(.success(lifetimes.make()), on: .immediate) { _ in log.add(thread) }
            }
            #expect(!log.entries.isEmpty && Set(log.entries).count == log.entries.count)
            #expect(lifetimes.count == 0)
        }
    }

    @Test func `a request token cancels once, and then keeps nothing`() {
        let (producer, log, lifetimes) = (Producer(), Log<String>(), Lifetimes())
        let token = RequestToken(
            Task(producer) { [token = lifetimes.make()] in
                token.touch()
                log.add("cancelled")
            }
        )
        #expect(lifetimes.count == 1)
        token.cancel()
        token.cancel()
        #expect(log.entries == ["cancelled"])
        #expect(lifetimes.count == 0)
    }
}

private struct Superseding: Executor {
    let run: @Sendable (_ body: () -> Void) -> Void

    func submit(_ body: @escaping @Sendable () -> Void) { run(body) }
}
