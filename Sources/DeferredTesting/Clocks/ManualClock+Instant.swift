extension ManualClock {
    /// A point in the time of a ``ManualClock``.
    ///
    /// Comparing the instants of two clocks compares how far each was advanced.
    public struct Instant: InstantProtocol {
        /// How far a clock that shows this was advanced.
        public let offset: Duration

        /// The instant at which a clock has been advanced by `offset`; by default, the one at which each begins.
        public init(offset: Duration = .zero) {
            self.offset = offset
        }

        /// The instant that is `duration` later.
        public func advanced(by duration: Duration) -> Instant { Instant(offset: offset + duration) }

        /// How much time passes from this instant until `other`.
        public func duration(to other: Instant) -> Duration { other.offset - offset }

        /// Whether `one` is earlier than `other`.
        public static func < (one: Instant, other: Instant) -> Bool { one.offset < other.offset }
    }
}
