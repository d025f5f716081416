/// The task-locals of the code that begins an operation, for the closures that the operation calls later, from any thread.
///
/// Swift copies task-locals only into a new Swift task. So there is one, whose executor keeps its job instead of running it.
/// To call a closure, the job is run on the thread that calls, where it calls the closure and ends.
package final class TaskLocals: Sendable {
    /// SAFETY: the creator and the owner use it, one after the other; the owner gets it from a lock.
    fileprivate final class Copy: TaskExecutor, @unchecked Sendable {
        private var job: UnownedJob?
        private var body: (() -> Void)?

        /// Copies the task-locals of the running code.
        init() {
            _Concurrency.Task(executorPreference: self) { self.body?() }
        }

        /// Creates a copy without task-locals: a detached task inherits none.
        init(empty: Void) {
            _Concurrency.Task.detached(executorPreference: self) { self.body?() }
        }

        func enqueue(_ job: consuming ExecutorJob) { self.job = UnownedJob(job) }

        /// Calls a closure with the task-locals, and ends the task. Each copy can be used once, and has to be.
        func run(_ body: () -> Void) {
            withoutActuallyEscaping(body) { body in
                self.body = body
                while let job = job.take() { job.runSynchronously(on: asUnownedTaskExecutor()) }
                self.body = nil
            }
        }
    }

    private let copy: Lock<Copy>

    /// Captures the task-locals of the running Swift task; nil outside of one. Takes as long as creating a task does.
    package static func ofRunningTask() -> TaskLocals? { isInTask ? TaskLocals(ofRunningCode: ()) : nil }

    /// Captures the task-locals of the running code, which may have been bound outside of a Swift task.
    package init(ofRunningCode: Void) { copy = Lock(Copy()) }

    deinit { copy.withLock { $0 }.run {} }

    /// True in a Swift task. By a pattern: to compare the optional with nil copies it.
    fileprivate static var isInTask: Bool { withUnsafeCurrentTask { if case .some = $0 { true } else { false } } }

    /// Returns a copy with the task-locals, to be run once.
    fileprivate func makeCopy() -> Copy {
        // Two threads may do this at once, and each needs a copy.
        copy.withLock { copy in
            var copies: (Copy, Copy)?
            copy.run { copies = (Copy(), Copy()) }
            guard let copies else { preconditionFailure("a task was not run by its executor") }
            copy = copies.0
            return copies.1
        }
    }
}

extension TaskLocals? {
    /// Returns the result of a closure that is called on this thread, with the task-locals, or without any if the
    /// operation began outside of a Swift task.
    package func restore<Value, Failure>(_ body: () throws(Failure) -> Value) throws(Failure) -> Value {
        // An operation of a plain thread may be continued by a Swift task, whose task-locals are another operation's.
        if self == nil, !TaskLocals.isInTask { return try body() }
        var result: Result<Value, Failure>?
        let copy = self?.makeCopy() ?? TaskLocals.Copy(empty: ())
        copy.run { result = Result(catching: body) }
        guard let result else { preconditionFailure("a task was not run by its executor") }
        return try result.get()
    }
}
