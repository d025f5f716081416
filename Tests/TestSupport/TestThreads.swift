import DeferredCore
import Foundation

/// Runs jobs that tests may block, with one thread for each unfinished job.
///
/// Swift's concurrency pool has only as many threads as there are processors. A test that blocked one of them could
/// starve the very work that it waits for.
final class TestThreads: TaskExecutor {
    static let shared = TestThreads()

    /// The maximum number of threads. Further jobs wait: a task group of thousands needs no thousands of threads.
    private static let limit = 64

    private let condition = NSCondition()
    // SAFETY: guarded by `condition`.
    nonisolated(unsafe) private var jobs: [UnownedJob] = []
    nonisolated(unsafe) private var (idle, running) = (0, 0)

    func enqueue(_ job: consuming ExecutorJob) {
        let job = UnownedJob(job)
        condition.lock()
        jobs.append(job)
        let needsThread = jobs.count > idle && running < Self.limit
        if needsThread { running += 1 } else { condition.signal() }
        condition.unlock()
        if needsThread { startThread { [self] in runJobs() } }
    }

    /// Runs jobs for ever: threads are kept for the next test.
    private func runJobs() {
        while true {
            condition.lock()
            idle += 1
            while jobs.isEmpty { condition.wait() }
            idle -= 1
            let job = jobs.removeFirst()
            condition.unlock()
            job.runSynchronously(on: asUnownedTaskExecutor())
        }
    }
}

/// Starts a thread that tests may block.
func startThread(stackSize: Int = 1 << 20, _ body: @escaping @Sendable () -> Void) {
    let thread = Thread {
        mark.value.isTestThread = true
        body()
    }
    thread.stackSize = stackSize
    thread.start()
}

/// True if a test may block this thread: false on the threads of Swift's concurrency pool.
var isTestThread: Bool { mark.value.isTestThread }

private let mark = ThreadLocal { Mark() }

private final class Mark {
    var isTestThread = false
}
