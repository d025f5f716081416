extension Duration {
    /// The shortest duration that means "never": 2³² seconds, some 136 years.
    ///
    /// Shorter durations can be added to the present on every clock that counts nanoseconds in 64 bits.
    package static var forever: Duration { .seconds(1 << 32) }
}

extension InstantProtocol {
    /// Returns the instant `duration` after this one: this instant for durations of zero or less, and `nil` ("never")
    /// for ``Swift/Duration/forever`` or more.
    ///
    /// Durations of other types than Swift's have no limit, since only their clock knows its range.
    package func deadline(after duration: Duration) -> Self? {
        guard duration > .zero else { return self }
        if let duration = duration as? Swift.Duration, duration >= .forever { return nil }
        return advanced(by: duration)
    }
}
