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
            tasks.map { queue.arrived($0, kind, at: origin) }
        }

        func arrived(_ task: Int, _ kind: ConnectionQueue.Kind, at origin: String) -> Bool {
            queue.arrived(task, kind, at: origin)
        }

        /// Returns the tasks that may start now, in order.
        func started(at origin: String) -> [Int] {
            var result: [Int] = []
            while let (task, _) = queue.next(at: origin) { result.append(task) }
            return result
        }
    }

    @Test func `a full origin leaves the others their places`() {
        let subject = Subject(limit: 2)
        #expect(subject.arrived(1...4, .own, at: origin) == [true, true, false, false])
        #expect(subject.arrived(5...7, .own, at: other) == [true, true, false])
        #expect(subject.started(at: origin) == [] && subject.started(at: other) == [])
        subject.queue.left(.own, of: other, hadConnected: true)
        #expect(subject.started(at: origin) == [] && subject.started(at: other) == [7])
        subject.queue.left(.own, of: origin, hadConnected: true)
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

    @Test func `if the first one fails to connect, the second one tries`() {
        let subject = Subject(limit: 3)
        #expect(subject.arrived(1...3, .shared, at: origin) == [true, false, false])
        subject.queue.left(.shared, of: origin, hadConnected: false)
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
        subject.queue.left(.own, of: origin, hadConnected: true)
        #expect(subject.started(at: origin) == [100_001])
        subject.queue.left(.own, of: origin, hadConnected: true)
        #expect(subject.started(at: origin) == [] && subject.queue.isEmpty)
    }

    @Test(arguments: 0..<20)
    func `at random, the limit holds, each kind is in order, and nobody waits where there is room`(seed: UInt64) {
        var random = SeededGenerator(seed: seed)
        let limit = Int.random(in: 1...4, using: &random)
        var queue = ConnectionQueue(limit: limit)
        var running: [(task: Int, kind: ConnectionQueue.Kind)] = []
        var last: [ConnectionQueue.Kind: Int] = [:]
        var waiting: [Int: ConnectionQueue.Kind] = [:]
        func begin(_ task: Int, _ kind: ConnectionQueue.Kind) {
            #expect(last[kind, default: -1] < task)
            last[kind] = task
            waiting[task] = nil
            running.append((task, kind))
        }
        for task in 0..<2_000 {
            let kind: ConnectionQueue.Kind = Bool.random(using: &random) ? .own : .shared
            if queue.arrived(task, kind, at: origin) { begin(task, kind) } else { waiting[task] = kind }
            if Int.random(in: 0..<4, using: &random) == 0, let task = waiting.keys.min() {
                waiting[task] = nil
                queue.remove(task)
            }
            while !running.isEmpty, Bool.random(using: &random) {
                let (_, kind) = running.remove(at: Int.random(in: 0..<running.count, using: &random))
                queue.connected(to: origin)
                queue.left(kind, of: origin, hadConnected: true)
                while let (task, kind) = queue.next(at: origin) { begin(task, kind) }
            }
            #expect(running.count <= limit)
            #expect(running.count > 0 || waiting.isEmpty)
        }
        while let (_, kind) = running.popLast() {
            queue.connected(to: origin)
            queue.left(kind, of: origin, hadConnected: true)
            while let (task, kind) = queue.next(at: origin) { begin(task, kind) }
        }
        #expect(waiting.isEmpty && queue.isEmpty)
    }
}
#endif
