extension Duration {
    /// The shortest duration that means "never": 2³² seconds, some 136 years.
    ///
    /// Every clock that counts nanoseconds in 64 bits can still add less than that to the present.
    package static var forever: Duration { .seconds(1 << 32) }
}

extension InstantProtocol {
    /// The instant at which a pause ends that begins now: now itself for durations of zero and less, and `nil`, "never",
    /// from ``Swift/Duration/forever`` on.
    ///
    /// Durations of a type other than Swift's have no limit, since only their clock knows what it can hold.
    package func deadline(after duration: Duration) -> Self? {
        guard duration > .zero else { return self }
        if let duration = duration as? Swift.Duration, duration >= .forever { return nil }
        return advanced(by: duration)
    }
}
