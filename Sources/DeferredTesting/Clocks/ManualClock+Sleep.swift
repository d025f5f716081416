internal import DeferredCore

extension ManualClock {
    /// Suspends the current task until the clock has been advanced to `deadline`; returns at once if it already has.
    ///
    /// - Parameters:
    ///   - deadline: The instant at which the task wakes.
    ///   - tolerance: Has no effect: no task is woken late.
    /// - Throws: `CancellationError`, at once, when the current task is cancelled.
    public func sleep(until deadline: Instant, tolerance: Duration? = nil) async throws {
        try Task.checkCancellation()
        let ticket = sleepers.withLock { $0.ticket(until: deadline) }
        try await withTaskCancellationHandler {
            try await withCheckedThrowingContinuation { continuation in
                switch sleepers.withLock({ $0.sleep(ticket, continuation) }) {
                case .due:
                    continuation.resume()
                case .sleeps(let watchers):
                    // The handler below misses a cancellation that came before the task was asleep.
                    if Task.isCancelled { cancel(ticket) }
                    for watcher in watchers { watcher.fulfil(with: ()) }
                }
            }
        } onCancel: {
            cancel(ticket)
        }
    }

    private func cancel(_ ticket: SleepTicket) {
        sleepers.withLock { $0.cancel(ticket) }?.resume(throwing: CancellationError())
    }
}
