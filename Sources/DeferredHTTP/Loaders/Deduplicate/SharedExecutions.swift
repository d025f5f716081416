internal import DeferredCore
internal import DeferredTask

/// What a ``Deduplicate`` and its copies have in flight.
final class SharedExecutions: Sendable {
    private struct Execution: Sendable {
        let number: Int
        // Never the last reference: what goes under the lock would complete there.
        weak var task: HTTPTask?
        var consumerCount = 1
    }

    private struct State: Sendable {
        var running: [DeduplicationKey: Execution] = [:]
        var mergedCount = 0
        var lastNumber = 0

        /// The execution for `key`: one that runs, or else `new`.
        mutating func join(_ key: DeduplicationKey, _ new: HTTPTask) -> (task: HTTPTask, number: Int, isNew: Bool) {
            if let execution = running[key], let task = execution.task {
                running[key]?.consumerCount += 1
                mergedCount += 1
                return (task, execution.number, false)
            }
            lastNumber += 1
            running[key] = Execution(number: lastNumber, task: new)
            return (new, lastNumber, true)
        }

        /// True if nobody is left who wants the execution, and none can join any more.
        mutating func leave(_ key: DeduplicationKey, _ number: Int) -> Bool {
            guard let count = running[key]?.consumerCount, running[key]?.number == number else { return false }
            running[key]?.consumerCount -= 1
            if count == 1 { running[key] = nil }
            return count == 1
        }

        mutating func end(_ key: DeduplicationKey, _ number: Int) {
            if running[key]?.number == number { running[key] = nil }
        }
    }

    private let state = Lock(State())

    var mergedCount: Int { state.withLock { $0.mergedCount } }

    /// Completes `consumer` with the result of an equal request's execution.
    ///
    /// - Returns: The execution, and whether it has to be loaded.
    func join(_ key: DeduplicationKey, _ consumer: HTTPTask) -> (execution: HTTPTask, isNew: Bool) {
        let new = HTTPTask(consumer.request)
        let (execution, number, isNew) = state.withLock { $0.join(key, new) }
        if isNew {
            execution.addCompletionHandler { _ in self.state.withLock { $0.end(key, number) } }
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
            if self.state.withLock({ $0.leave(key, number) }) { execution?.cancel() }
            consumer?.fail(.cancelled)
        }
        return (execution, isNew)
    }
}
