import Deferred

/// How far one file is.
struct FileProgress: Equatable {
    enum Phase: Equatable {
        case waiting
        case running
        case backingOff(reason: String, until: ContinuousClock.Instant)
        case saved
        case failed(reason: String)
        case stopped
    }

    let name: String

    /// Where it will be, as it is told to people.
    var path = ""

    var phase = Phase.waiting
    var bytes = ProgressSnapshot(fraction: 0, completed: 0, total: nil, unit: .bytes)

    /// How often it was tried, or is.
    var attempts = 1

    /// How long it waited for a place, when it has had one.
    var waited: Duration?

    /// From then on, when it has ended.
    var elapsed: Duration?

    var hasEnded: Bool {
        if case .backingOff = phase { return false }
        return phase != .waiting && phase != .running
    }

    /// Between 0 and 1, or nil when the whole length is not known.
    var fraction: Double? { bytes.fractionOfBytes ?? (phase == .saved ? 1 : nil) }

    /// Bytes per second: of late while it runs, on the whole when it has ended.
    var rate: Double? { elapsed.map { bytes.rate(over: $0) } ?? bytes.throughput }

    /// What remains while it runs, and what it took in the end.
    var time: Duration? { elapsed ?? bytes.remaining }
}

/// How far all files are together.
struct TotalProgress {
    let fileCount: Int
    let savedCount: Int
    let failedCount: Int

    /// Their bytes; the total is nil while that of any is not known.
    let bytes: ProgressSnapshot

    /// Never shorter than what a single file needs.
    let remaining: Duration?

    /// Files that have ended count with what is there of them: nothing more will come.
    init(_ files: [FileProgress], rate: Double? = nil) {
        fileCount = files.count
        savedCount = files.count { $0.phase == .saved }
        failedCount = files.count { if case .failed = $0.phase { true } else { false } }
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
    /// How much is there of what was announced, also when the server starts over with another file.
    var fractionOfBytes: Double? { total.map { $0 > 0 ? min(1, Double(completed) / Double($0)) : 1 } }

    /// Nobody waits for a year.
    var remaining: Duration? { estimatedTimeRemaining.flatMap { $0 < .seconds(31_536_000) ? $0 : nil } }

    /// Bytes per second that came over the network.
    func rate(over time: Duration) -> Double { Double(completed - resumed) / max(time / .seconds(1), 0.001) }
}
