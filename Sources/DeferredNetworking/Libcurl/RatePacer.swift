#if os(Linux)
/// Keeps the bytes of a response at a rate, by the times until which its connection is not read.
///
/// With libcurl's own limit of the rate, libcurl doesn't watch the socket while it waits, as if the
/// connection were idle; and an idle connection is closed when something comes on it. Nor would deadlines know of the waits.
struct RatePacer {
    /// The time of the limit for which bytes are read at once.
    private static let piecesPerSecond = 8

    /// The time that a server may catch up on after it was slower for a while. A longer one would allow a burst.
    private static let longestCredit = Duration.milliseconds(125)

    /// A shorter pause costs more than it is worth, and becomes part of the next one.
    private static let shortestPause = Duration.milliseconds(5)

    /// The limit in bytes a second; positive.
    private let limit: Int

    /// The time at which all bytes so far are due.
    private var due: ContinuousClock.Instant?

    init(limit: Int) {
        self.limit = limit
    }

    /// The number of bytes to read at once, in the limits that libcurl sets itself.
    static func pieceSize(_ limit: Int?, atMost size: Int) -> Int {
        limit.map { min(size, max(1 << 10, $0 / piecesPerSecond)) } ?? size
    }

    /// Counts bytes, and returns the end of the pause that they need; nil for none.
    mutating func took(_ count: Int, at now: ContinuousClock.Instant) -> ContinuousClock.Instant? {
        let start = max(due ?? now, now - Self.longestCredit)
        let end = start + .seconds(Double(count) / Double(limit))
        due = end
        return end - now >= Self.shortestPause ? end : nil
    }
}
#endif
