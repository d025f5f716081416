import Foundation

extension URLClient {
    /// How long a request may take: three limits of the client's own, of any length, also below a second.
    ///
    /// They count by a clock that also runs while the machine is asleep, and hold also when the session is busy or frozen.
    /// Zero and negative durations have passed at once; 2³² seconds (136 years) and more never do.
    public struct Deadlines: Sendable, Hashable {
        /// The longest silence, in either direction, before an attempt fails with `URLError.timedOut`; `nil` for any.
        ///
        /// A request's own `timeoutInterval` replaces it, unless that is Foundation's default of 60 seconds.
        public var idle: Duration? = .seconds(60)

        /// From the start of an attempt to the head of its response, redirects and the wait for a connection included.
        ///
        /// An attempt that takes longer fails with `URLError.timedOut`. `nil` for any time.
        public var connectToHead: Duration?

        /// From the beginning to the end of the whole request: its wait for a turn, all its attempts, and the pauses.
        ///
        /// A request that takes longer fails with ``URLClientError/deadlineExceeded``. `nil` for any time.
        public var total: Duration?

        /// Creates deadlines.
        public init(idle: Duration? = .seconds(60), connectToHead: Duration? = nil, total: Duration? = nil) {
            self.idle = idle
            self.connectToHead = connectToHead
            self.total = total
        }
    }
}
