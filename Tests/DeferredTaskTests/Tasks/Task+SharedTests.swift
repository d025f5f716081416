import DeferredCore
import DeferredTask
import Foundation
import TestSupport
import Testing

@Suite(.ownThread, .timeLimit(.minutes(5)))
struct SharedTests {
    private typealias Producer = Deferred<Task<Int>.Result>

    @Test func `cancelling one consumer ends only that, and the last cancels the upstream`() {
        let (producer, log) = (Producer(), Log<String>())
        let upstream = Task(producer) { log.add("handler") }
        let consumers = (0..<3).map { _ in upstream.shared() }
        for index in 0..<2 {
            consumers[index].cancel()
            consumers[index].cancel()
            #expect(consumers[index].failureNow is CancellationError)
        }
        #expect(log.entries.isEmpty)
        #expect(!upstream.isCancelled)
        #expect(consumers[2].peek() == nil)
        consumers[2].cancel()
        #expect(log.entries == ["handler"])
        #expect(upstream.isCancelled)
    }

    @Test func `all consumers get the result`() {
        let producer = Producer()
        let upstream = Task(producer)
        let consumers = (0..<3).map { _ in upstream.shared() }
        consumers[0].cancel()
        producer.succeed(with: 7)
        #expect(consumers.map(\.valueNow) == [nil, 7, 7])
        consumers[1].cancel()
        #expect(!consumers[1].isCancelled && !upstream.isCancelled)
    }

    @Test func `tasks derived from one consumer share it in turn`() {
        let (producer, log) = (Producer(), Log<String>())
        let shared = Task(producer) { log.add("handler") }.shared()
        let (one, two) = (shared.map { $0 + 1 }, shared.flatMap { .success($0 + 2) })
        one.cancel()
        #expect(one.failureNow is CancellationError)
        #expect(shared.peek() == nil && two.peek() == nil && log.entries.isEmpty)
        two.cancel()
        #expect(shared.failureNow is CancellationError)
        #expect(log.entries == ["handler"])
    }

    @Test func `cancelling a shared task itself ends all that derive from it`() {
        let (producer, log) = (Producer(), Log<String>())
        let shared = Task(producer) { log.add("handler") }.shared()
        let (one, two) = (shared.map { $0 + 1 }, shared.map { $0 + 2 })
        shared.cancel()
        #expect(one.failureNow is CancellationError && two.failureNow is CancellationError)
        #expect(log.entries == ["handler"])
    }

    @Test func `a consumer that is dropped counts no longer, so that the last that cancels stops the work`() {
        for dropsFirst in [true, false] {
            let log = Log<String>()
            let upstream = Task(Producer()) { log.add("handler") }
            var gone: [Task<Int>] = [upstream.shared()]
            let (one, other) = (upstream.shared(), upstream.shared())
            if dropsFirst { gone = [] }
            one.cancel()
            #expect(gone.count == (dropsFirst ? 0 : 1) && log.entries.isEmpty)
            gone = []
            #expect(log.entries.isEmpty)
            other.cancel()
            #expect(log.entries == ["handler"])
        }
    }

    @Test func `the last consumer to be dropped stops the work if another has cancelled, and only then`() {
        let log = Log<String>()
        let upstream = Task(Producer()) { log.add("cancelled") }
        var consumers = [upstream.shared(), upstream.shared()]
        consumers[0].cancel()
        consumers = []
        #expect(log.entries == ["cancelled"])

        let other = Task(Producer()) { log.add("dropped") }
        consumers = [other.shared(), other.shared()]
        consumers = []
        #expect(log.entries == ["cancelled"])
    }

    @Test func `a consumer that is dropped while its handlers wait still counts`() {
        let (producer, log) = (Producer(), Log<String>())
        let upstream = Task(producer) { log.add("handler") }
        upstream.shared().upon(.immediate) { _ in log.add("result") }
        let other = upstream.shared()
        other.cancel()
        #expect(log.entries.isEmpty)
        producer.succeed(with: 1)
        #expect(log.entries == ["result"])
    }

    @Test func `a derived consumer cancels nothing that others still want`() {
        let (producer, log) = (Producer(), Log<String>())
        let upstream = Task(producer) { log.add("handler") }
        let (one, two) = (upstream.shared().map { $0 }.map { $0 }, upstream.shared())
        one.cancel()
        #expect(log.entries.isEmpty && two.peek() == nil)
        two.cancel()
        #expect(log.entries == ["handler"])
    }

    @Test func `consumers that cancel at once cancel the upstream once`() {
        for _ in 0..<2_000 {
            let (producer, log) = (Producer(), Log<String>())
            let upstream = Task(producer) { log.add("handler") }
            let consumers = (0..<4).map { _ in upstream.shared() }
            race(4) { consumers[$0].cancel() }
            #expect(log.entries == ["handler"])
        }
    }

    @Test func `a consumer that cancels while the result comes ends once`() {
        for _ in 0..<2_000 {
            let (producer, ends) = (Producer(), Log<Int>())
            let upstream = Task(producer)
            let (one, two) = (upstream.shared(), upstream.shared())
            one.upon(.immediate) { _ in ends.add(1) }
            race(2) { if $0 == 0 { one.cancel() } else { producer.succeed(with: 1) } }
            #expect(ends.entries == [1])
            #expect(two.valueNow == 1, "\(String(describing: two.peek()))")
            #expect(!upstream.isCancelled)
        }
    }

    @Test func `its progress is that of the upstream`() {
        let (producer, reporter) = (Producer(), ProgressReporter())
        let shared = Task(producer, reporter: reporter).shared()
        let progress = shared.progress
        reporter.report(completed: 1, of: 4)
        #expect(abs(progress.fractionCompleted - 0.25) < 1e-6)
        producer.succeed(with: 1)
        #expect(progress.fractionCompleted == 1)
    }

    // Took minutes when dropping one consumer was O(n).
    @Test func `100,000 consumers that are dropped while their handlers wait get the result`() {
        let (producer, log) = (Producer(), Log<Int>())
        let upstream = Task(producer)
        for _ in 0..<100_000 { upstream.shared().upon(.immediate) { log.add((try? $0.get()) ?? 0) } }
        upstream.shared().cancel()
        #expect(!upstream.isCancelled)
        producer.succeed(with: 1)
        #expect(log.entries.count == 100_000 && log.entries.allSatisfy { $0 == 1 })
    }

    #if os(macOS) || os(Linux)
    @Test func `100,000 consumers that cancel leave nothing with the upstream`() async {
        await #expect(processExitsWith: .success) {
            let producer = Deferred<Task<Int>.Result>()
            let upstream = Task(producer)
            let rest = upstream.shared()
            func consumers(_ count: Int) {
                for _ in 0..<count { upstream.shared().cancel() }
            }
            consumers(2_000)
            let before = residentMemory()
            consumers(isSanitized ? 10_000 : 100_000)
            let growth = residentMemory() - before
            // A sanitizer keeps a history, which can be of any size.
            precondition(growth < 4 << 20 || isSanitized, "\(growth) bytes more than before")
            precondition(!upstream.isCancelled && rest.peek() == nil)
        }
    }
    #endif
}
