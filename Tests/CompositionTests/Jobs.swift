import Foundation

/// Jobs of Swift's concurrency that threads of programs make, run by those threads and not by the pool.
///
/// Timers sleep in Swift tasks. Run on the pool, they would have to be waited for, and no two runs were the same.
final class Jobs: @unchecked Sendable {
    private typealias Original = @convention(thin) (UnownedJob) -> Void
    private typealias Hook = @convention(thin) (UnownedJob, Original) -> Void

    /// What collects the jobs that a thread makes.
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
    /// The generic executor, on which such jobs belong: on any other they would come back here to change over.
    private let executor = unsafeBitCast((0, 0), to: UnownedSerialExecutor.self)

    /// Collects what this thread makes while `body` runs.
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

    /// Runs jobs, oldest first, until none waits.
    func run() {
        while let job = next() { job.runSynchronously(on: executor) }
    }

    private func next() -> UnownedJob? {
        lock.withLock { waiting.isEmpty ? nil : waiting.removeFirst() }
    }
}
