#if os(Linux)
import TestSupport
import Testing

@testable import DeferredNetworking

@Suite("Connection queue", .ownThread, .timeLimit(.minutes(1)))
struct ConnectionQueueTests {
    private let origin = "host"
    private let other = "other"

    /// An expectation can't call what changes a value.
    private final class Subject {
        var queue: ConnectionQueue

        init(limit: Int) {
            queue = ConnectionQueue(limit: limit)
        }

        func arrived(_ tasks: ClosedRange<Int>, _ kind: ConnectionQueue.Kind, at origin: String) -> [Bool] {
            tasks.map { queue.arrived($0, kind, at: origin) != nil }
        }

        func arrived(_ task: Int, _ kind: ConnectionQueue.Kind, at origin: String) -> Bool {
            queue.arrived(task, kind, at: origin) != nil
        }

        /// Returns the tasks that may start now, in order.
        func started(at origin: String) -> [Int] {
            var result: [Int] = []
            while let start = queue.next(at: origin) { result.append(start.task) }
            return result
        }
    }

    @Test func `a full origin leaves the others their places`() {
        let subject = Subject(limit: 2)
        #expect(subject.arrived(1...4, .own, at: origin) == [true, true, false, false])
        #expect(subject.arrived(5...7, .own, at: other) == [true, true, false])
        #expect(subject.started(at: origin) == [] && subject.started(at: other) == [])
        subject.queue.left(.own, of: other, on: 0, hadConnected: true)
        #expect(subject.started(at: origin) == [] && subject.started(at: other) == [7])
        subject.queue.left(.own, of: origin, on: 0, hadConnected: true)
        #expect(subject.started(at: origin) == [3])
    }

    @Test func `until one has connected, those that may share its connection wait`() {
        let subject = Subject(limit: 3)
        #expect(subject.arrived(1...9, .shared, at: origin) == [true] + Array(repeating: false, count: 8))
        #expect(subject.started(at: origin) == [])
        subject.queue.connected(to: origin)
        #expect(subject.started(at: origin) == [2, 3])
        subject.queue.answered(at: origin, isMultiplexed: true)
        #expect(subject.started(at: origin) == [4, 5, 6, 7, 8, 9])
        #expect(subject.arrived(10...12, .own, at: origin) == [true, true, false])
    }

    @Test func `after a shared connection has died, one makes another, while those on it stay`() {
        let subject = Subject(limit: 3)
        #expect(subject.arrived(1, .shared, at: origin))
        subject.queue.answered(at: origin, isMultiplexed: true)
        #expect(subject.arrived(2...3, .shared, at: origin) == [true, true])
        subject.queue.renewed(origin)
        #expect(subject.arrived(4...6, .shared, at: origin) == [true, false, false])
        subject.queue.left(.shared, of: origin, on: 0, hadConnected: true)
        #expect(subject.started(at: origin) == [])
        subject.queue.connected(to: origin)
        #expect(subject.started(at: origin) == [5, 6])
    }

    @Test func `if the first one fails to connect, the second one tries`() {
        let subject = Subject(limit: 3)
        #expect(subject.arrived(1...3, .shared, at: origin) == [true, false, false])
        subject.queue.left(.shared, of: origin, on: 0, hadConnected: false)
        #expect(subject.started(at: origin) == [2])
        subject.queue.answered(at: origin, isMultiplexed: false)
        #expect(subject.started(at: origin) == [3])
        #expect(subject.arrived(4, .own, at: origin) && !subject.arrived(5, .shared, at: origin))
    }

    @Test func `a limit of one holds up neither kind for good`() {
        let subject = Subject(limit: 1)
        #expect(subject.arrived(1, .shared, at: origin))
        subject.queue.answered(at: origin, isMultiplexed: true)
        #expect(subject.arrived(2, .own, at: origin) && subject.arrived(3, .shared, at: origin))
        #expect(!subject.arrived(4, .own, at: origin))
    }

    @Test func `a task that waits is removed, and the memory of many with it`() {
        let subject = Subject(limit: 1)
        #expect(subject.arrived(0, .own, at: origin))
        for task in 1...100_000 {
            #expect(!subject.arrived(task, .own, at: origin))
            subject.queue.remove(task)
            #expect(subject.queue.staleCount <= 65)
        }
        #expect(!subject.arrived(100_001, .own, at: origin))
        subject.queue.left(.own, of: origin, on: 0, hadConnected: true)
        #expect(subject.started(at: origin) == [100_001])
        subject.queue.left(.own, of: origin, on: 0, hadConnected: true)
        #expect(subject.started(at: origin) == [] && subject.queue.isEmpty)
    }

    @Test func `tasks are divided among threads by origin, and then by load`() {
        var queue = ConnectionQueue(limit: 4, threads: 3)
        #expect([1, 2, 3, 4, 5].map { queue.arrived($0, .own, at: origin) } == [0, 1, 2, 0, nil])
        #expect([6, 7, 8].map { queue.arrived($0, .own, at: other) } == [1, 2, 0])
        queue.left(.own, of: origin, on: 2, hadConnected: true)
        #expect(queue.next(at: origin) == .init(task: 5, kind: .own, thread: 2))
        queue.left(.own, of: other, on: 1, hadConnected: true)
        queue.left(.own, of: other, on: 2, hadConnected: true)
        queue.left(.own, of: other, on: 0, hadConnected: true)
        // One after another stays where it is.
        for task in 9..<20 {
            #expect(queue.arrived(task, .own, at: other) == 1)
            queue.left(.own, of: other, on: 1, hadConnected: true)
            #expect(queue.next(at: other) == nil)
        }
    }

    @Test func `those that share a connection share its thread, and others do not`() {
        var queue = ConnectionQueue(limit: 4, threads: 2)
        #expect(queue.arrived(0, .own, at: other) == 0)
        #expect([1, 2, 3, 4].map { queue.arrived($0, .shared, at: origin) } == [1, nil, nil, nil])
        queue.connected(to: origin)
        #expect(queue.next(at: origin)?.thread == 1)
        queue.answered(at: origin, isMultiplexed: false)
        #expect(queue.next(at: origin)?.thread == 0)
        queue.answered(at: origin, isMultiplexed: true)
        #expect(queue.next(at: origin)?.thread == 0 && queue.arrived(5, .shared, at: origin) == 0)
        #expect(queue.arrived(6, .own, at: origin) == 1)
    }

    @Test(arguments: 0..<20)
    func `at random, the limit holds, each kind is in order, and nobody waits where there is room`(seed: UInt64) {
        var random = SeededGenerator(seed: seed)
        let limit = Int.random(in: 1...4, using: &random)
        let threads = Int.random(in: 1...ConnectionQueue.mostThreads, using: &random)
        var queue = ConnectionQueue(limit: limit, threads: threads)
        var running: [ConnectionQueue.Start] = []
        var last: [ConnectionQueue.Kind: Int] = [:]
        var waiting: [Int: ConnectionQueue.Kind] = [:]
        func begin(_ start: ConnectionQueue.Start) {
            #expect(last[start.kind, default: -1] < start.task && (0..<threads).contains(start.thread))
            last[start.kind] = start.task
            waiting[start.task] = nil
            running.append(start)
        }
        func leave(_ start: ConnectionQueue.Start) {
            queue.connected(to: origin)
            queue.left(start.kind, of: origin, on: start.thread, hadConnected: true)
            while let start = queue.next(at: origin) { begin(start) }
        }
        for task in 0..<2_000 {
            let kind: ConnectionQueue.Kind = Bool.random(using: &random) ? .own : .shared
            if let thread = queue.arrived(task, kind, at: origin) {
                begin(.init(task: task, kind: kind, thread: thread))
            } else {
                waiting[task] = kind
            }
            if Int.random(in: 0..<4, using: &random) == 0, let task = waiting.keys.min() {
                waiting[task] = nil
                queue.remove(task)
            }
            while !running.isEmpty, Bool.random(using: &random) {
                leave(running.remove(at: Int.random(in: 0..<running.count, using: &random)))
            }
            #expect(running.count <= limit)
            #expect(running.count > 0 || waiting.isEmpty)
        }
        while let start = running.popLast() { leave(start) }
        #expect(waiting.isEmpty && queue.isEmpty)
    }
}
#endif
