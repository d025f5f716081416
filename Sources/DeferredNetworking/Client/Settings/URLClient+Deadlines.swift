extension URLClient {
    /// The time limits of a request. The client enforces them itself; they may be of any length, also below a second.
    ///
    /// They count by a clock that also runs while the machine is asleep, and are enforced even when the session is busy
    /// or frozen. Zero and negative durations expire at once; those of 2³² seconds (136 years) and more never do, as
    /// `Duration.noLimit`.
    public struct Deadlines: Sendable, Hashable {
        /// The longest time without traffic in either direction before an attempt fails with `URLError.timedOut`; `nil`
        /// for no limit.
        ///
        /// It counts from the moment when the attempt has a connection or makes one. An attempt that waits for one of
        /// ``Configuration/maximumConnectionsPerHost`` is not silent as long as those that have them get something;
        /// ``connectToHead`` and ``total`` limit such waiting. Over `URLSession`, which doesn't tell of it, waiting counts.
        ///
        /// A request's own `timeoutInterval` replaces this, unless that is Foundation's default of 60 seconds.
        public var idle: Duration? = .seconds(60)

        /// The longest time from the start of an attempt to the head of its response, including redirects and waiting
        /// for a connection.
        ///
        /// An attempt that takes longer fails with `URLError.timedOut`. `nil` for no limit.
        public var connectToHead: Duration?

        /// The longest time for the whole request: waiting in the queue, all its attempts, and the pauses between them.
        ///
        /// A request that takes longer fails with ``URLClientError/Code/deadlineExceeded``. `nil` for no limit.
        public var total: Duration?

        /// Creates deadlines.
        public init(idle: Duration? = .seconds(60), connectToHead: Duration? = nil, total: Duration? = nil) {
            self.idle = idle
            self.connectToHead = connectToHead
            self.total = total
        }
    }
}

extension Duration {
    /// A time limit that never expires, for a request of its own: one that waits for events may be silent for hours.
    ///
    /// ```swift
    /// options.idle = .noLimit
    /// request.timeout = .noLimit
    /// ```
    public static var noLimit: Duration { .seconds(1 << 40) }
}
