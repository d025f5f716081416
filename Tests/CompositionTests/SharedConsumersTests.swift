import DeferredCore
import DeferredTask
import DeferredTesting
import Foundation
import Synchronization
import TestSupport
import Testing

/// Makes, releases and cancels consumers of shared tasks in random orders.
///
/// The shared task is cancelled if and only if one consumer has cancelled, and none is left that somebody holds or whose
/// handlers wait.
@Suite(.ownThread, .timeLimit(.minutes(5)))
struct SharedConsumersTests {
    private typealias Producer = Deferred<Task<Int>.Result>

    init() { DeferredDiagnostics.unfilledHandler = { _ in } }

    private enum Kind: CaseIterable { case plain, watched, withHandler, withToken, readInLoop }

    /// A consumer that nothing else waits for.
    private static func consumer(_ kind: Kind, of task: Task<Int>) -> Task<Int> {
        let consumer = task.shared()
        switch kind {
        case .plain: break
        case .watched: _ = consumer.progress.fractionCompleted
        case .withHandler: consumer.upon(.immediate) { _ in }.cancel()
        case .withToken: return consumer.cancelled(by: CancellationTokenSource().token)
        case .readInLoop: _ = consumer.progressUpdates.makeAsyncIterator()
        }
        return consumer
    }

    @Test(arguments: 0..<4)
    func `the work is cancelled by the last consumer that counts`(part: Int) {
        for round in 0..<rounds(400) {
            let seed = UInt64(part * 10_000 + round)
            var random = SeededGenerator(seed: seed)
            let log = Log<Int>()
            let upstream = Task(Producer()) { log.add(1) }
            var held: [Task<Int>] = []
            var (hasCancelled, waiting) = (false, 0)
            for step in 0..<60 {
                switch Int.random(in: 0..<10, using: &random) {
                case 0..<4:
                    guard let kind = Kind.allCases.randomElement(using: &random) else { continue }
                    held.append(Self.consumer(kind, of: upstream))
                case 4..<6 where !held.isEmpty:
                    let index = Int.random(in: held.indices, using: &random)
                    held.remove(at: index)
                case 6..<8 where !held.isEmpty:
                    let index = Int.random(in: held.indices, using: &random)
                    let consumer = held.remove(at: index)
                    hasCancelled = true
                    consumer.cancel()
                    #expect(consumer.isFilled)
                case 8:
                    // Released at once: the memory is used again by the next.
                    for _ in 0..<3 { _ = upstream.shared() }
                case 9 where step % 20 == 0:
                    upstream.shared().upon(.immediate) { _ in }
                    waiting += 1
                default: continue
                }
                let isDone = hasCancelled && held.isEmpty && waiting == 0
                #expect(log.entries.count == (isDone ? 1 : 0), "seed \(seed), step \(step)")
                #expect(upstream.isCancelled == isDone)
                if isDone { break }
            }
        }
    }

    @Test func `several threads that make, release and cancel consumers cancel the work once, at the end`() {
        for seed in 0..<rounds(100) {
            let log = Log<Int>()
            let upstream = Task(Producer()) { log.add(1) }
            let guardian = Lock<Task<Int>?>(upstream.shared())
            race(4) { thread in
                var random = SeededGenerator(seed: UInt64(seed * 4 + thread))
                var held: [Task<Int>] = []
                for _ in 0..<50 {
                    switch Int.random(in: 0..<4, using: &random) {
                    case 0:
                        held.append(Self.consumer(Kind.allCases[Int.random(in: 0..<5, using: &random)], of: upstream))
                    case 1: _ = held.popLast()
                    case 2: held.popLast()?.cancel()
                    default: for _ in 0..<2 { _ = upstream.shared() }
                    }
                }
                // At least one has cancelled.
                upstream.shared().cancel()
                held = []
            }
            #expect(log.entries.isEmpty && !upstream.isCancelled, "seed \(seed)")
            if seed.isMultiple(of: 2) { guardian.withLock { $0 }?.cancel() }
            guardian.withLock { $0 = nil }
            #expect(log.entries == [1] && upstream.isCancelled, "seed \(seed)")
        }
    }

    @Test func `the last two consumers that go at the same moment stop the work`() {
        for round in 0..<rounds(1_000) {
            let log = Log<Int>()
            let upstream = Task(Producer()) { log.add(1) }
            let consumers = (0..<3).map { _ in Slot(upstream.shared()) }
            race(3) { thread in
                if thread == 0 || round % 3 == 1 && thread == 1 { consumers[thread].take()?.cancel() }
                _ = consumers[thread].take()
            }
            #expect(log.entries == [1], "round \(round)")
        }
    }

    @Test func `a released consumer whose handler was taken back no longer counts for the next one`() {
        let log = Log<Int>()
        let upstream = Task(Producer()) { log.add(1) }
        let registration = upstream.shared().upon(.immediate) { _ in }
        upstream.shared().cancel()
        #expect(log.entries == [])
        registration.cancel()
        upstream.shared().cancel()
        #expect(log.entries == [1] && upstream.isCancelled)
    }

    private final class Slot: Sendable {
        private let task: Lock<Task<Int>?>
        init(_ task: Task<Int>) { self.task = Lock(task) }
        func take() -> Task<Int>? { task.withLock { $0.take() } }
    }
}
