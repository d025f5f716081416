internal import Foundation

/// A point in time by two clocks, each of which sees what the other misses.
///
/// The wall clock survives the process, and is what `Date` and `Expires` refer to; but it can be set. The steady clock
/// can't, and also counts while the machine sleeps; but it is the process's own.
struct CacheInstant: Sendable, Equatable {
    /// Milliseconds since 1970.
    var wall: Int64

    /// Milliseconds of this process's continuous clock; `nil` for an instant of another process.
    var steady: Int64? {
        get { storedSteady == Self.none ? nil : storedSteady }
        set { storedSteady = newValue ?? Self.none }
    }

    /// Without an optional's byte, which would take eight: each stored response has two instants.
    private var storedSteady: Int64
    private static let none = Int64.min

    init(wall: Int64, steady: Int64?) {
        self.wall = wall
        storedSteady = steady ?? Self.none
    }

    /// Whole seconds since 1970.
    var seconds: Int64 { wall >= 0 ? wall / 1_000 : (wall - 999) / 1_000 }

    /// Milliseconds since `earlier`, by the clock that says more; at least 0.
    func time(since earlier: CacheInstant) -> Int64 {
        var result = wall &- earlier.wall
        if let steady, let other = earlier.steady { result = max(result, steady &- other) }
        return max(0, result)
    }

    /// Returns whether this is later than another instant.
    ///
    /// The wall clocks of two processes decide only about times that have passed. One that `now` has not reached comes from a
    /// clock that was ahead: nobody knows when that was, so it is later than nothing. Otherwise one response of such a
    /// process would keep all others out until then.
    func isLater(than other: CacheInstant, now: CacheInstant) -> Bool {
        if let steady, let otherSteady = other.steady { return steady > otherSteady }
        guard wall <= now.wall else { return false }
        return wall > other.wall || other.wall > now.wall
    }

    /// Milliseconds that can be added and subtracted a few times: 140,000 years.
    private static let limit: Int64 = 1 << 52

    /// The instant that two clocks show, whatever they show.
    init(wall: Date, steady: Duration) {
        let milliseconds = (wall.timeIntervalSince1970 * 1_000).rounded()
        let (seconds, attoseconds) = steady.components
        self.init(
            wall: milliseconds.isNaN ? 0 : Int64(min(max(milliseconds, -Double(Self.limit)), Double(Self.limit))),
            steady: min(max(seconds, -Self.limit / 1_000), Self.limit / 1_000) * 1_000
                + attoseconds / 1_000_000_000_000_000
        )
    }

    /// Returns whether this instant of the same process was not after another one.
    func isNotAfter(_ other: CacheInstant) -> Bool {
        guard let steady, let otherSteady = other.steady else { return false }
        return steady <= otherSteady
    }
}
