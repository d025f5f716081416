extension ManualClock {
    /// A point in the time of a ``ManualClock``.
    ///
    /// Instants of different clocks compare by how far each clock has been advanced.
    public struct Instant: InstantProtocol {
        /// The time by which a clock that shows this instant has been advanced.
        public let offset: Duration

        /// Creates the instant at which a clock has been advanced by `offset`; by default, the one at which each clock
        /// starts.
        public init(offset: Duration = .zero) {
            self.offset = offset
        }

        /// Returns the instant that is `duration` later.
        public func advanced(by duration: Duration) -> Instant { Instant(offset: offset + duration) }

        /// Returns the time from this instant until `other`.
        public func duration(to other: Instant) -> Duration { other.offset - offset }

        /// Returns a Boolean value that indicates whether `one` is earlier than `other`.
        public static func < (one: Instant, other: Instant) -> Bool { one.offset < other.offset }
    }
}
