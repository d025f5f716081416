internal import DeferredCore

extension ManualClock {
    /// Suspends the current task until the clock has been advanced to `deadline`; not at all if it shows that already.
    ///
    /// - Parameters:
    ///   - deadline: When to wake.
    ///   - tolerance: Has no effect: nobody is woken late.
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
                    // A cancellation that came before there was anybody to wake was lost on the handler below.
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
