import DeferredCore
import DeferredTask
import Foundation
import Synchronization
import TestSupport
import Testing

@Suite(.ownThread, .timeLimit(.minutes(5)))
struct MapTasksTests {
    private typealias Producer = Deferred<Task<Int>.Result>

    @Test func `values are in the order of the elements, and no more run than may`() {
        let producers = (0..<5).map { _ in Producer() }
        let started = Log<Int>()
        let task = (0..<5).mapTasks(maxConcurrent: 2) { index in
            started.add(index)
            return Task(producers[index])
        }
        #expect(started.entries == [0, 1])
        producers[1].succeed(with: 10)
        #expect(started.entries == [0, 1, 2])
        producers[2].succeed(with: 20)
        producers[3].succeed(with: 30)
        #expect(started.entries == [0, 1, 2, 3, 4])
        producers[4].succeed(with: 40)
        #expect(task.peek() == nil)
        producers[0].succeed(with: 0)
        #expect(task.valueNow == [0, 10, 20, 30, 40])
    }

    @Test func `a collection may have more elements than an Int can count, or take long to count`() {
        func check(_ elements: some Sequence<Int> & Sendable) {
            let (producers, started) = ((0..<5).map { _ in Producer() }, Log<Int>())
            let task = elements.mapTasks(maxConcurrent: 2) { index in
                started.add(index)
                return Task(producers[index]) { producers[index].fail(with: CancellationError()) }
            }
            #expect(started.entries == [0, 1])
            producers[0].succeed(with: 0)
            #expect(started.entries == [0, 1, 2])
            task.cancel()
            #expect(task.failureNow is CancellationError)
        }
        check(0...Int.max)
        check(0..<Int.max)
        check(stride(from: 0, through: Int.max, by: 1))
    }

    @Test func `the first failure, also one that is thrown, cancels running tasks and starts no more`() {
        for throwsIt in [false, true] {
            let (producers, log) = ((0..<5).map { _ in Producer() }, Log<String>())
            let task = (0..<5).mapTasks(maxConcurrent: 2) { index in
                log.add("start \(index)")
                if throwsIt, index == 2 { throw Failure.custom }
                return Task(producers[index]) { log.add("cancel \(index)") }
            }
            if throwsIt { producers[0].succeed(with: 0) } else { producers[0].fail(with: Failure.custom) }
            #expect(task.failureNow is Failure)
            #expect(log.entries == ["start 0", "start 1"] + (throwsIt ? ["start 2"] : []) + ["cancel 1"])
        }
    }

    @Test func `cancelling cancels running tasks, starts no more, and ends at once`() {
        let (producers, log) = ((0..<5).map { _ in Producer() }, Log<String>())
        let task = (0..<5).mapTasks(maxConcurrent: 2) { index in
            log.add("start \(index)")
            return Task(producers[index]) { log.add("cancel \(index)") }
        }
        task.cancel()
        #expect(task.failureNow is CancellationError)
        #expect(Set(log.entries) == ["start 0", "start 1", "cancel 0", "cancel 1"])
        producers[0].succeed(with: 1)
        #expect(log.entries.count == 4)
    }

    @Test func `after a failure, none is started, whatever the others do when they are cancelled`() {
        let (producers, log) = ((0..<5).map { _ in Producer() }, Log<String>())
        let task = (0..<5).mapTasks(maxConcurrent: 3) { index in
            log.add("start \(index)")
            return Task(producers[index]) { if index == 1 { producers[2].succeed(with: 2) } }
        }
        producers[0].fail(with: CancellationError())
        #expect(task.failureNow is CancellationError)
        #expect(log.entries == ["start 0", "start 1", "start 2"])
    }

    @Test func `the closure is released with its last call, so that it may capture the producers`() {
        let lifetimes = Lifetimes()
        do {
            let producers = (0..<2).map { _ in Producer() }
            let task = (0..<2).mapTasks(maxConcurrent: 1) { [token = lifetimes.make()] index in
                token.touch()
                return Task(producers[index])
            }
            #expect(lifetimes.count == 1)
            producers[0].succeed(with: 0)
            #expect(lifetimes.count == 0)
            withExtendedLifetime(task) {}
        }
    }

    @Test func `of nothing it has succeeded`() {
        #expect([Int]().mapTasks(maxConcurrent: 1) { .success($0) }.valueNow == [])
    }

    @Test func `a hundred thousand tasks that end at once need no stack`() {
        let task = (0..<100_000).mapTasks(maxConcurrent: 3) { .success($0) }
        #expect(task.valueNow?.count == 100_000)
    }

    @Test func `a task that starts after a cancellation from within is cancelled, too`() {
        let log = Log<String>()
        let box = Lock<Task<[Int]>?>(nil)
        let first = Producer()
        let task = (0..<2).mapTasks(maxConcurrent: 1) { index in
            if index == 0 { return Task(first) }
            box.withLock { $0 }?.cancel()
            return Task(Producer()) { log.add("cancelled") }
        }
        box.withLock { $0 = task }
        first.succeed(with: 0)
        #expect(log.entries == ["cancelled"])
        #expect(task.failureNow is CancellationError)
        box.withLock { $0 = nil }
    }

    @Test func `never more run than may, from many threads`() {
        for limit in [1, 3, 8] {
            let running = Atomic(0)
            let highest = Atomic(0)
            let task = (0..<2_000).mapTasks(maxConcurrent: limit) { index in
                let now = running.wrappingAdd(1, ordering: .relaxed).newValue
                highest.max(now, ordering: .relaxed)
                return Task<Int>.async(on: .global()) {
                    running.wrappingSubtract(1, ordering: .relaxed)
                    return index
                }
            }
            #expect((try? task.wait()?.get()) == Array(0..<2_000))
            #expect(highest.load(ordering: .relaxed) <= limit)
        }
    }

    @Test func `progress is over all elements`() {
        let producers = (0..<4).map { _ in Producer() }
        let task = (0..<4).mapTasks(maxConcurrent: 1) { Task(producers[$0]) }
        let progress = task.progress
        #expect(progress.fractionCompleted == 0)
        producers[0].succeed(with: 0)
        #expect(abs(progress.fractionCompleted - 0.25) < 1e-6)
        for producer in producers { producer.succeed(with: 0) }
        #expect(progress.fractionCompleted == 1)
    }

    @Test func `elements are taken when there is room for them, none after a failure`() {
        for end in ["failure", "thrown", "cancel"] {
            let (producers, taken) = ((0..<9).map { _ in Producer() }, Log<Int>())
            let task = Endless(taken: taken).mapTasks(maxConcurrent: 2) { index in
                if end == "thrown", index == 4 { throw Failure.custom }
                return Task(producers[index])
            }
            #expect(taken.entries == [0, 1])
            producers[1].succeed(with: 1)
            producers[2].succeed(with: 2)
            #expect(taken.entries == [0, 1, 2, 3])
            #expect(task.progress.fractionCompleted == 0.4)
            switch end {
            case "failure": producers[0].fail(with: Failure.custom)
            case "thrown": producers[0].succeed(with: 0)
            default: task.cancel()
            }
            #expect(end == "cancel" ? task.failureNow is CancellationError : task.failureNow is Failure)
            for producer in producers { producer.succeed(with: 0) }
            #expect(taken.entries == Array(0..<(end == "thrown" ? 5 : 4)))
        }
    }

    @Test(arguments: [false, true])
    func `a task that fails at once is the last one, although there is room`(throwsIt: Bool) {
        let taken = Log<Int>()
        let task = Endless(taken: taken).mapTasks(maxConcurrent: 3) { index -> Task<Int> in
            guard index == 1 else { return .never }
            if throwsIt { throw Failure.custom }
            return .failure(Failure.custom)
        }
        #expect(task.failureNow is Failure)
        #expect(taken.entries == [0, 1])
    }

    @Test(arguments: 0...5)
    func `a sequence of unknown length is taken to its end, and released`(count: Int) {
        let (producers, taken, lifetimes) = ((0..<5).map { _ in Producer() }, Log<Int>(), Lifetimes())
        let task = Endless(taken: taken).prefix(count).mapTasks(maxConcurrent: 2) { [token = lifetimes.make()] index in
            token.touch()
            return Task(producers[index])
        }
        for index in [1, 0, 2, 4, 3] { producers[index].succeed(with: index) }
        #expect(task.valueNow == Array(0..<count))
        #expect(task.progress.fractionCompleted == 1)
        #expect(lifetimes.count == 0)
    }

    @Test(arguments: [0, -1, Int.min])
    func `a limit below one is one`(limit: Int) {
        let (producers, started) = ((0..<2).map { _ in Producer() }, Log<Int>())
        let task = (0..<2).mapTasks(maxConcurrent: limit) { index in
            started.add(index)
            return Task(producers[index])
        }
        #expect(started.entries == [0])
        for producer in producers { producer.succeed(with: 1) }
        #expect(task.valueNow == [1, 1])
    }
}

private enum Failure: Error { case custom }

/// An endless sequence that notes the elements that are taken.
private struct Endless: Sequence, IteratorProtocol, Sendable {
    let taken: Log<Int>
    private var count = 0

    init(taken: Log<Int>) {
        self.taken = taken
    }

    mutating func next() -> Int? {
        defer { count += 1 }
        taken.add(count)
        return count
    }
}
