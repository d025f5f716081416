/// Measures the time since its creation, by any clock.
package struct Stopwatch: Sendable {
    private let read: @Sendable () -> Duration
    private let start: @Sendable (_ time: Duration, _ body: @escaping @Sendable () -> Void) -> ClockTimer

    package var elapsed: Duration { read() }

    /// Calls `body` when `time` has elapsed, however long ago that time was found.
    ///
    /// A timer that counts from the present is late by what the clock advances meanwhile.
    package func timer(at time: Duration, _ body: @escaping @Sendable () -> Void) -> ClockTimer { start(time, body) }
}

extension Stopwatch {
    package init(_ clock: any Clock<Duration>) {
        // Nearly always; the compiler then knows the clock, and what its instants are.
        self = if let clock = clock as? ContinuousClock { Self.started(clock) } else { Self.started(clock) }
    }

    private static func started(_ clock: some Clock<Duration>) -> Stopwatch {
        let instant = clock.now
        return Stopwatch(
            read: { instant.duration(to: clock.now) },
            start: { ClockTimer(at: instant.deadline(after: $0), clock: clock, $1) }
        )
    }
}
