import Deferred

/// The progress of one file.
struct FileProgress: Equatable {
    enum Phase: Equatable {
        case waiting
        case running
        case backingOff(reason: String, until: ContinuousClock.Instant)
        case saved
        case failed(reason: String)
        case stopped
    }

    enum Source: Equatable {
        case network
        case cache
        /// From the cache, after the server has said that they are still right.
        case confirmedCache
    }

    let name: String

    /// The path of the destination, as shown to the user.
    var path = ""

    var phase = Phase.waiting
    var bytes = ProgressSnapshot(fraction: 0, completed: 0, total: nil, unit: .bytes)

    /// The place that the bytes come from.
    var source = Source.network

    /// The number of attempts, including the current one.
    var attempts = 1

    /// The head of the last response; nil before it.
    var head: ResponseHead?

    /// The time until the first request was sent; nil before that.
    var waited: Duration?

    /// The time from then until the end; nil before the end.
    var elapsed: Duration?

    var hasEnded: Bool {
        if case .backingOff = phase { return false }
        return phase != .waiting && phase != .running
    }

    /// The fraction between 0 and 1; nil if the total length is unknown.
    var fraction: Double? { bytes.fractionOfBytes ?? (phase == .saved ? 1 : nil) }

    /// The rate in bytes per second: the recent one during the download, the average after the end.
    var rate: Double? { elapsed.map { bytes.rate(over: $0) } ?? bytes.throughput }

    /// The remaining time during the download, and the elapsed time after the end.
    var time: Duration? { elapsed ?? bytes.remaining }
}

/// The total progress of all files.
struct TotalProgress {
    let fileCount: Int
    let savedCount: Int
    let failedCount: Int

    /// The bytes of all files; the total is nil while that of any file is unknown.
    let bytes: ProgressSnapshot

    /// The remaining time, never shorter than that of any single file.
    let remaining: Duration?

    /// Creates the total. Files that have ended count with the bytes they have, since no more will arrive.
    ///
    /// - Parameter rejectedCount: The number of further files, which have failed because they can't be asked for.
    init(_ files: [FileProgress], rejectedCount: Int = 0, rate: Double? = nil) {
        fileCount = files.count + rejectedCount
        savedCount = files.count { $0.phase == .saved }
        failedCount = rejectedCount + files.count { if case .failed = $0.phase { true } else { false } }
        let totals = files.compactMap { $0.hasEnded ? $0.bytes.completed : $0.bytes.total }
        // A server may claim any length, so the sum may be too large for the type.
        func sum(_ numbers: [Int64]) -> Int64 { Int64(exactly: numbers.reduce(0.0) { $0 + Double($1) }) ?? .max }
        bytes = ProgressSnapshot(
            fraction: 0,
            completed: sum(files.map(\.bytes.completed)),
            total: totals.count == files.count ? sum(totals) : nil,
            unit: .bytes,
            resumed: sum(files.map(\.bytes.resumed)),
            throughput: rate
        )
        let longest = files.compactMap { $0.hasEnded ? nil : $0.bytes.remaining }.max()
        remaining = bytes.remaining.map { max($0, longest ?? .zero) }
    }
}

extension ProgressSnapshot {
    /// The fraction of the announced bytes that have arrived, also if the server starts over with another file.
    var fractionOfBytes: Double? { total.map { $0 > 0 ? min(1, Double(completed) / Double($0)) : 1 } }

    /// The estimated remaining time; nil if it is a year or more.
    var remaining: Duration? { estimatedTimeRemaining.flatMap { $0 < .seconds(31_536_000) ? $0 : nil } }

    /// Returns the bytes per second that came over the network.
    func rate(over time: Duration) -> Double { Double(completed - resumed) / max(time / .seconds(1), 0.001) }
}
