import Deferred
import Synchronization

/// Measures for how long nothing has moved in a transfer, in either direction.
package final class SilenceTimer<C: Clock>: Sendable where C.Duration == Duration {
    package let limit: Duration
    private let clock: C
    private let lastMove: Mutex<C.Instant>

    package init(limit: Duration, clock: C) {
        // Some 136 years: clocks can't hold every duration.
        self.limit = min(limit, .seconds(1 << 32))
        self.clock = clock
        lastMove = Mutex(clock.now)
    }

    /// Notes that something has moved.
    package func touch() {
        let now = clock.now
        lastMove.withLock { $0 = now }
    }

    /// Waits until nothing has moved for as long as the limit.
    ///
    /// - Throws: `TimeoutError` then, and `CancellationError` when the waiting task is cancelled.
    package func end<Value>() async throws -> Value {
        while true {
            let deadline = lastMove.withLock { $0 }.advanced(by: limit)
            guard clock.now < deadline else { throw TimeoutError(duration: limit) }
            try await clock.sleep(until: deadline, tolerance: nil)
        }
    }
}
