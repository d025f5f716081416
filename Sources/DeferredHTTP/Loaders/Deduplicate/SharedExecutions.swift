internal import DeferredCore
internal import DeferredTask

/// What a ``Deduplicate`` and its copies have in flight.
final class SharedExecutions: Sendable {
    private struct Execution: Sendable {
        weak var task: HTTPTask?
        var consumerCount = 1
    }

    private struct State: Sendable {
        var running: [DeduplicationKey: Execution] = [:]
        var mergedCount = 0

        /// The execution for `key`: one that runs, or the one that `make` makes.
        mutating func join(_ key: DeduplicationKey, _ make: () -> HTTPTask) -> (task: HTTPTask, isNew: Bool) {
            if let task = running[key]?.task {
                running[key]?.consumerCount += 1
                mergedCount += 1
                return (task, false)
            }
            let task = make()
            running[key] = Execution(task: task)
            return (task, true)
        }

        /// True if nobody is left who wants `task`, and none can join any more.
        mutating func leave(_ key: DeduplicationKey, _ task: HTTPTask) -> Bool {
            guard let execution = running[key], execution.task === task else { return false }
            running[key]?.consumerCount -= 1
            guard execution.consumerCount == 1 else { return false }
            running[key] = nil
            return true
        }

        mutating func end(_ key: DeduplicationKey, _ id: ObjectIdentifier) {
            guard let execution = running[key] else { return }
            // One that is being freed is not to be told from none, and is ended by nobody else.
            if let task = execution.task, ObjectIdentifier(task) != id { return }
            running[key] = nil
        }
    }

    private let state = Lock(State())

    var mergedCount: Int { state.withLock { $0.mergedCount } }

    /// Completes `consumer` with the result of an equal request's execution.
    ///
    /// - Returns: The execution, and whether it has to be loaded.
    func join(_ key: DeduplicationKey, _ consumer: HTTPTask) -> (execution: HTTPTask, isNew: Bool) {
        let (execution, isNew) = state.withLock { $0.join(key) { HTTPTask(consumer.request) } }
        if isNew {
            let id = ObjectIdentifier(execution)
            execution.addCompletionHandler { _ in self.state.withLock { $0.end(key, id) } }
        }
        let reports = execution.reporter.watch { [weak execution, reporter = consumer.reporter] in
            guard let source = execution?.reporter else { return }
            reporter.report(completed: source.completed, of: source.total)
        }
        let result = execution.addCompletionHandler { result in
            withExtendedLifetime(reports) {}
            consumer.complete(with: result)
        }
        consumer.addCancellationHandler { [weak consumer, weak execution] in
            result.cancel()
            // Otherwise there is a result already.
            guard result.isCancelled else { return }
            if let execution, self.state.withLock({ $0.leave(key, execution) }) { execution.cancel() }
            consumer?.fail(.cancelled)
        }
        return (execution, isNew)
    }
}
