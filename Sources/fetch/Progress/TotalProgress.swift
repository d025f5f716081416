/// How far all files are together.
struct TotalProgress: Equatable {
    let fileCount: Int
    let savedCount: Int
    let failedCount: Int
    let received: Int64
    let fetched: Int64

    /// Bytes of all files, or nil while that of any is not known.
    let expected: Int64?

    /// Bytes per second.
    var rate: Double?

    /// Failed files count with what is there of them: nothing more will come.
    init(_ files: [FileProgress], rate: Double? = nil) {
        fileCount = files.count
        savedCount = files.count { $0.phase == .saved }
        failedCount = files.count { if case .failed = $0.phase { true } else { false } }
        received = files.reduce(0) { $0 + $1.count.received }
        fetched = files.reduce(0) { $0 + $1.count.fetched }
        expected = files.reduce(0 as Int64?) { sum, file in
            let length = file.hasEnded ? file.count.received : file.count.expected
            return sum.flatMap { sum in length.map { sum + $0 } }
        }
        self.rate = rate
    }

    var endedCount: Int { savedCount + failedCount }

    var fraction: Double? {
        expected.map { $0 > 0 ? min(1, Double(received) / Double($0)) : 1 }
    }

    var remaining: Duration? {
        FileProgress.remaining(received: received, expected: expected, rate: rate)
    }
}
