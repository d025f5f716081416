import DeferredCore
import DeferredTask
import TestSupport
import Testing

@Suite("Task control", .timeLimit(.minutes(1)))
struct TaskControlTests {
    /// The last reference to a task.
    private final class Holder: Sendable {
        private let task: Lock<Task<Int>?>

        init(_ task: Task<Int>) {
            self.task = Lock(task)
        }

        func drop() {
            _ = task.withLock { $0.take() }
        }
    }

    @Test func `a task can be dropped while it ends`() {
        let rounds = (0..<200_000).map { _ in
            let promise = Task<Int>.Promise()
            return (promise: promise, holder: Holder(Task(promise, reporter: ProgressReporter(), uponCancel: {})))
        }
        let gate = Gate(2)
        race(2) { thread in
            for (index, (promise, holder)) in rounds.enumerated() {
                gate.pass()
                if thread == 0 {
                    promise.succeed(with: 1)
                } else {
                    // The end takes a while; each round meets it at another point.
                    for _ in 0..<(index % 100) { _ = promise.isFilled }
                    holder.drop()
                }
            }
        }
        #expect(rounds.allSatisfy { $0.promise.isFilled })
    }
}
