internal import DeferredCore

/// A closure that a clock calls, unless it is cancelled before. Dropping it does nothing.
package struct ClockTimer: Cancellable {
    private let sleeping: _Concurrency.Task<Void, Never>

    package init(after duration: Duration, clock: some Clock<Duration>, _ body: @escaping @Sendable () -> Void) {
        let deadline = clock.now.advanced(by: duration)
        sleeping = _Concurrency.Task.detached {
            do {
                try await clock.sleep(until: deadline, tolerance: nil)
                body()
            } catch {
                // Cancelled: whoever did that has no use for the closure any more.
            }
        }
    }

    package func cancel() { sleeping.cancel() }
}
