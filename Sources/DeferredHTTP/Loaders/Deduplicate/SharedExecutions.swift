internal import DeferredCore
internal import DeferredTask

/// The executions in flight of a ``Deduplicate`` and its copies.
final class SharedExecutions: Sendable {
    private struct Execution: Sendable {
        let number: Int
        // Weak, so that the last reference is never released under the lock, which would complete the task there.
        weak var task: HTTPExecution?
        var consumerCount = 1
    }

    private struct State: Sendable {
        var running: [DeduplicationKey: Execution] = [:]
        var mergedCount = 0
        var lastNumber = 0

        /// Returns the execution for `key`: the running one if there is one, otherwise `new`.
        mutating func join(
            _ key: DeduplicationKey,
            _ new: HTTPExecution
        ) -> (task: HTTPExecution, number: Int, isNew: Bool) {
            if let execution = running[key], let task = execution.task {
                running[key]?.consumerCount += 1
                mergedCount += 1
                return (task, execution.number, false)
            }
            lastNumber += 1
            running[key] = Execution(number: lastNumber, task: new)
            return (new, lastNumber, true)
        }

        /// Removes a consumer; returns true if it was the last one, in which case no other can join any more.
        mutating func leave(_ key: DeduplicationKey, _ number: Int) -> Bool {
            guard let count = running[key]?.consumerCount, running[key]?.number == number else { return false }
            running[key]?.consumerCount -= 1
            if count == 1 { running[key] = nil }
            return count == 1
        }

        /// Removes the execution if this consumer is its only one; returns true if it was.
        mutating func leaveLast(_ key: DeduplicationKey, _ number: Int) -> Bool {
            running[key]?.consumerCount == 1 && leave(key, number)
        }

        mutating func end(_ key: DeduplicationKey, _ number: Int) {
            if running[key]?.number == number { running[key] = nil }
        }
    }

    private let state = Lock(State())

    var mergedCount: Int { state.withLock { $0.mergedCount } }

    /// Completes `consumer` with the result of an equal request's execution.
    ///
    /// - Returns: The execution, if it has to be loaded.
    func join(_ key: DeduplicationKey, _ consumer: HTTPTask) -> HTTPTask? {
        let new = HTTPExecution(sharedBy: consumer.execution)
        let (execution, number, isNew) = state.withLock { $0.join(key, new) }
        if isNew {
            execution.completion.upon(.immediate) { _ in self.state.withLock { $0.end(key, number) } }
        }
        let reporter = consumer.execution.reporter
        let reports = execution.reporter.watch { [source = execution.reporter] in
            reporter.report(completed: source.completed, of: source.total)
        }
        let result = execution.completion.upon(.immediate) { consumer.complete(with: $0) }
        // Completed by the handler below, or by an earlier loader, the consumer doesn't want the result any more.
        consumer.addCompletionHandler { [weak execution] _ in
            // The execution's reporter keeps the closure, which refers to that reporter.
            reports.cancel()
            result.cancel()
            guard result.isCancelled else { return }
            if self.state.withLock({ $0.leave(key, number) }) { execution?.cancel() }
        }
        consumer.addCancellationHandler { [weak consumer, weak execution] in
            if let result = execution?.completion.peek() {
                // A response that has arrived counts, although its handlers may not have run yet.
                consumer?.complete(with: result)
            } else if let execution, self.state.withLock({ $0.leaveLast(key, number) }) {
                // The loader that holds the execution decides how it ends.
                execution.cancel()
            } else {
                consumer?.fail(.cancelled)
            }
        }
        return isNew ? HTTPTask(execution, isLoaders: true) : nil
    }
}
