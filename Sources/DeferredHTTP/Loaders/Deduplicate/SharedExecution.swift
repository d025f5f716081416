internal import DeferredTask

/// An execution for equal requests, and the tasks that get its result.
///
/// The execution refers to this until it completes, and so do the tasks.
///
/// SAFETY: `consumers` and `isOpen` are guarded by the lock of `executions`, `execution` is set before anybody else can
/// refer to this, and the rest is immutable.
final class SharedExecution: ChildExecution, @unchecked Sendable {
    let key: DeduplicationKey
    /// `nil` only in `init`.
    private(set) var execution: HTTPExecution?
    private let executions: SharedExecutions

    @exclusivity(unchecked) var consumers = Consumers()
    /// True if further requests can join.
    @exclusivity(unchecked) var isOpen = true

    init(_ key: DeduplicationKey, of first: HTTPTask, in executions: SharedExecutions) {
        self.key = key
        self.executions = executions
        execution = HTTPExecution(sharedBy: first, in: self)
    }

    /// Completes the tasks with the result of the execution.
    func finish(with result: HTTPResult) {
        executions.end(self).forEach { $0.complete(with: result) }
    }

    /// Passes on what is reported for the execution.
    func follow(_ reporter: ProgressReporter) {
        // The reporter keeps the closure.
        _ = reporter.watch { [weak self, unowned reporter] in
            guard let self else { return }
            executions.consumers(of: self).forEach {
                $0.report(completed: reporter.completed, of: reporter.total)
            }
        }
    }

    /// Passes on to a task that has joined what was reported before.
    func catchUp(_ consumer: HTTPTask) {
        guard let reporter = execution?.existingReporter else { return }
        consumer.report(completed: reporter.completed, of: reporter.total)
    }

    /// Lets go of a task that was cancelled or completed.
    func cancel(for consumer: HTTPExecution) {
        // A response that has arrived counts, although the tasks may not have it yet.
        guard let execution, !execution.isComplete else { return }
        let (gone, isLast) = executions.leave(self, consumer)
        // The loader that holds the execution decides how it ends.
        if isLast { execution.cancel() }
        gone?.fail(.cancelled)
    }

    /// The tasks that get the result.
    struct Consumers: Sendable {
        private var tasks: [ObjectIdentifier: (number: Int, task: HTTPTask)] = [:]
        private var lastNumber = 0

        var count: Int { tasks.count }

        mutating func add(_ task: HTTPTask) {
            lastNumber += 1
            tasks[ObjectIdentifier(task.execution)] = (lastNumber, task)
        }

        func contain(_ execution: HTTPExecution) -> Bool { tasks[ObjectIdentifier(execution)] != nil }

        /// Removes a task, to be released by the caller; returns `nil` if it is not here.
        mutating func remove(_ execution: HTTPExecution) -> HTTPTask? {
            tasks.removeValue(forKey: ObjectIdentifier(execution))?.task
        }

        /// Calls `body` with the tasks in the order in which they have joined.
        func forEach(_ body: (HTTPTask) -> Void) {
            for (_, task) in tasks.values.sorted(by: { $0.number < $1.number }) { body(task) }
        }
    }
}
