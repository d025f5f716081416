/// Measures the time since its creation, by any clock.
package struct Stopwatch: Sendable {
    private let started: any StartedClock

    package init(_ clock: any Clock<Duration>) { started = Self.start(clock) }

    package var elapsed: Duration { started.elapsed }

    /// Calls `body` when `time` has elapsed, however long ago that time was found.
    ///
    /// A timer that counts from the present is late by what the clock advances meanwhile.
    package func timer(at time: Duration, _ body: @escaping @Sendable () -> Void) -> ClockTimer {
        started.timer(at: time, body)
    }

    private static func start(_ clock: some Clock<Duration>) -> any StartedClock {
        Start(clock: clock, instant: clock.now)
    }
}

private protocol StartedClock: Sendable {
    var elapsed: Duration { get }

    func timer(at time: Duration, _ body: @escaping @Sendable () -> Void) -> ClockTimer
}

private struct Start<C: Clock<Duration>>: StartedClock {
    let clock: C
    let instant: C.Instant

    var elapsed: Duration { instant.duration(to: clock.now) }

    func timer(at time: Duration, _ body: @escaping @Sendable () -> Void) -> ClockTimer {
        ClockTimer(at: instant.deadline(after: time), clock: clock, body)
    }
}
