/// Measures the time since its creation, by any clock.
package struct Stopwatch: Sendable {
    /// The usual clock by itself, so that nothing about it is found out at run time.
    private enum Start {
        case usual(ContinuousClock.Instant)
        case other(any StartedClock)
    }

    private let start: Start

    package init(_ clock: any Clock<Duration>) {
        start = clock is ContinuousClock ? .usual(.now) : .other(Self.start(clock))
    }

    package var elapsed: Duration {
        switch start {
        case .usual(let instant): instant.duration(to: .now)
        case .other(let clock): clock.elapsed
        }
    }

    /// Calls `body` when `time` has elapsed, however long ago that time was found.
    ///
    /// A timer that counts from the present is late by what the clock advances meanwhile.
    package func timer(at time: Duration, _ body: @escaping @Sendable () -> Void) -> ClockTimer {
        switch start {
        case .usual(let instant): ClockTimer(at: instant.deadline(after: time), clock: ContinuousClock(), body)
        case .other(let clock): clock.timer(at: time, body)
        }
    }

    private static func start(_ clock: some Clock<Duration>) -> any StartedClock { OtherClock(clock) }
}

private protocol StartedClock: Sendable {
    var elapsed: Duration { get }

    func timer(at time: Duration, _ body: @escaping @Sendable () -> Void) -> ClockTimer
}

private struct OtherClock<C: Clock<Duration>>: StartedClock {
    let clock: C
    let start: C.Instant

    init(_ clock: C) {
        self.clock = clock
        start = clock.now
    }

    var elapsed: Duration { start.duration(to: clock.now) }

    func timer(at time: Duration, _ body: @escaping @Sendable () -> Void) -> ClockTimer {
        ClockTimer(at: start.deadline(after: time), clock: clock, body)
    }
}
