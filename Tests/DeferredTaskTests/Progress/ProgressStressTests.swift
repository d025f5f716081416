import DeferredCore
import DeferredTask
import Foundation
import Synchronization
import TestSupport
import Testing

/// Updates one tree from many threads, which crashes a bare `Progress` on Linux.
@Suite(.ownThread, .timeLimit(.minutes(5)))
struct ProgressStressTests {
    private typealias Producer = Deferred<Task<Int>.Result>

    @Test func `200 leaves, 8 threads that report, read, attach and cancel: no unit is lost`() {
        // The cost is quadratic in the number of leaves: each delivery visits all leaves, and each leaf causes
        // deliveries.
        let (leaves, units) = (200, 8)
        let producers = (0..<leaves).map { _ in Producer() }
        let reporters = (0..<leaves).map { _ in ProgressReporter(total: Int64(units)) }
        let attached = Log<Registration>()
        let doomed = (0..<leaves / 10).map { _ in Task(Producer(), reporter: ProgressReporter()) }
        let tree = zip(producers, reporters).map { Task($0, reporter: $1) }.allSucceeded()
        let progress = tree.progress
        race(8) { thread in
            var seen = 0.0
            for step in 0..<leaves {
                // Each thread adds one unit to every leaf, in a different order.
                let leaf = (step &* 7 &+ thread &* 125) % leaves
                reporters[leaf].add(1)
                switch step % (leaves / 4) {
                case 0:
                    let now = progress.fractionCompleted
                    #expect(now >= seen)
                    seen = now
                case leaves / 40:
                    attached.add(tree.uponProgress(on: .global()) { _ in })
                case leaves / 20:
                    attached.entries.randomElement()?.cancel()
                case leaves / 10:
                    let task = doomed[step % doomed.count].map { $0 }
                    _ = task.progress
                    task.cancel()
                default:
                    break
                }
            }
        }
        #expect(reporters.allSatisfy { $0.completed == units })
        // All units are counted, although no leaf has ended.
        #expect(progress.fractionCompleted > 0.999_999)
        #expect(progress.fractionCompleted < 1)
        for producer in producers { producer.succeed(with: 1) }
        #expect(progress.fractionCompleted == 1)
        #expect(tree.peek() != nil)
    }

    @Test func `cancelling the progress from many threads cancels every leaf once`() {
        for _ in 0..<20 {
            let log = Log<Int>()
            let tree = (0..<100).map { index in Task(Producer()) { log.add(index) } }.allSucceeded()
            let progress = tree.progress
            race(4) { _ in progress.cancel() }
            #expect(log.entries.sorted() == Array(0..<100))
            #expect(tree.isCancelled && progress.isCancelled)
        }
    }
}
