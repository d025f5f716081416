/// A clock whose pauses end at once, and are not kept.
package struct ImmediateClock: Clock {
    package init() {}

    package var now: ContinuousClock.Instant { .now }
    package var minimumResolution: Duration { .zero }

    package func sleep(until deadline: ContinuousClock.Instant, tolerance: Duration?) async throws {}
}
