import Foundation

/// Runs the jobs of Swift's concurrency that a program creates on the program's threads instead of the pool's.
///
/// Timers sleep in Swift tasks. On the pool, they would have to be waited for, and no two runs would be the same.
final class Jobs: @unchecked Sendable {
    private typealias Original = @convention(thin) (UnownedJob) -> Void
    private typealias Hook = @convention(thin) (UnownedJob, Original) -> Void

    /// The thread-specific key of the object that collects the jobs created on a thread.
    private static let key: pthread_key_t = {
        var key = pthread_key_t()
        pthread_key_create(&key, nil)
        return key
    }()

    private static let isInstalled: Bool = {
        guard let library = dlopen(nil, RTLD_NOW), let symbol = dlsym(library, "swift_task_enqueueGlobal_hook") else {
            return false
        }
        let hook: Hook = { job, original in
            if let pointer = pthread_getspecific(Jobs.key) {
                Unmanaged<Jobs>.fromOpaque(pointer).takeUnretainedValue().add(job)
            } else {
                original(job)
            }
        }
        symbol.assumingMemoryBound(to: Hook?.self).pointee = hook
        return true
    }()

    private let lock = NSLock()
    private var waiting: [UnownedJob] = []
    /// The generic executor, to which such jobs belong: run on any other, they would be enqueued again to switch over.
    private let executor = unsafeBitCast((0, 0), to: UnownedSerialExecutor.self)

    /// Collects the jobs that this thread creates while `body` runs.
    func collect(_ body: () -> Void) {
        precondition(Self.isInstalled, "this platform's concurrency runtime has no hook for jobs")
        let previous = pthread_getspecific(Self.key)
        pthread_setspecific(Self.key, Unmanaged.passUnretained(self).toOpaque())
        body()
        pthread_setspecific(Self.key, previous)
    }

    private func add(_ job: UnownedJob) {
        lock.withLock { waiting.append(job) }
    }

    /// Runs jobs, oldest first, until none is left.
    func run() {
        while let job = next() { job.runSynchronously(on: executor) }
    }

    private func next() -> UnownedJob? {
        lock.withLock { waiting.isEmpty ? nil : waiting.removeFirst() }
    }
}
