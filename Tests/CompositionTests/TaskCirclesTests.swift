import DeferredCore
import DeferredTask
import DeferredTesting
import Foundation
import TestSupport
import Testing

/// Closes circles of tasks through `flatMap` and combinations, and cancels any of them.
@Suite(.ownThread, .timeLimit(.minutes(5)))
struct TaskCirclesTests {
    private typealias Producer = Deferred<Task<Int>.Result>

    init() { DeferredDiagnostics.unfilledHandler = { _ in } }

    private enum Kind: CaseIterable { case plain, all, first, shared, mapped, twice, mapTasks, timeout }

    private final class Ring: Sendable {
        let tasks: Lock<[Task<Int>]>
        let producers: [Producer]

        init(_ kinds: [Kind], watches: Bool) {
            tasks = Lock([])
            producers = kinds.map { _ in Producer() }
            var made: [Task<Int>] = []
            for (index, kind) in kinds.enumerated() {
                let task = Task(producers[index]).flatMap { [self] _ in link(kind, (index + 1) % kinds.count) }
                if watches { task.uponProgress(on: .immediate) { _ in } }
                made.append(task)
            }
            tasks.withLock { $0 = made }
        }

        private func link(_ kind: Kind, _ index: Int) -> Task<Int> {
            let next = tasks.withLock { $0[index] }
            switch kind {
            case .plain: return next
            case .all: return [next].allSucceeded().map { $0[0] }
            case .first: return [next].firstSucceeded()
            case .shared: return next.shared()
            case .mapped: return next.map { $0 }
            case .twice: return [next, next, .success(1)].allSucceeded().map { $0[0] }
            case .mapTasks: return [1, 2].mapTasks(maxConcurrent: 1) { _ in next }.map { $0[0] }
            case .timeout: return next.timeout(after: .seconds(3_600))
            }
        }
    }

    @Test func `circles that one thread closes end when any of their tasks is cancelled`() {
        for seed in 0..<rounds(400) {
            var random = SeededGenerator(seed: UInt64(seed))
            let kinds = (0..<Int.random(in: 1...5, using: &random)).map { _ in
                Kind.allCases.randomElement(using: &random) ?? .plain
            }
            let ring = Ring(kinds, watches: Bool.random(using: &random))
            let tasks = ring.tasks.withLock { $0 }
            let object = Bool.random(using: &random) ? tasks.randomElement(using: &random)?.progress : nil
            for producer in ring.producers.shuffled(using: &random) { producer.succeed(with: 1) }
            tasks.randomElement(using: &random)?.cancel()
            let running = tasks.indices.filter { !tasks[$0].isFilled }
            #expect(running == [], "seed \(seed): \(kinds)")
            withExtendedLifetime(object) {}
            ring.tasks.withLock { $0 = [] }
        }
    }

    @Test func `circles that several threads close, unwatched, end when any of their tasks is cancelled`() {
        for seed in 0..<rounds(400) {
            var random = SeededGenerator(seed: UInt64(seed))
            let kinds = (0..<Int.random(in: 2...4, using: &random)).map { _ in
                Kind.allCases.randomElement(using: &random) ?? .plain
            }
            let ring = Ring(kinds, watches: false)
            let tasks = ring.tasks.withLock { $0 }
            let victim = tasks.indices.randomElement(using: &random) ?? 0
            let isRacing = Bool.random(using: &random)
            race(kinds.count + 1) { thread in
                if thread < kinds.count {
                    ring.producers[thread].succeed(with: 1)
                } else if isRacing {
                    tasks[victim].cancel()
                }
            }
            if !isRacing { tasks[victim].cancel() }
            let running = tasks.indices.filter { !tasks[$0].isFilled }
            #expect(running == [], "seed \(seed): \(kinds), \(isRacing)")
            ring.tasks.withLock { $0 = [] }
        }
    }
}
