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
        received = Self.sum(files.map(\.count.received))
        fetched = Self.sum(files.map(\.count.fetched))
        let lengths = files.map { $0.hasEnded ? $0.count.received : $0.count.expected }
        let known = lengths.compactMap { $0 }
        expected = known.count == lengths.count ? Self.sum(known) : nil
        self.rate = rate
    }

    var endedCount: Int { savedCount + failedCount }

    var fraction: Double? {
        expected.map { $0 > 0 ? min(1, Double(received) / Double($0)) : 1 }
    }

    var remaining: Duration? {
        FileProgress.remaining(received: received, expected: expected, rate: rate)
    }

    /// A server may claim any length, so the sum may be too large for the type.
    private static func sum(_ numbers: [Int64]) -> Int64 {
        numbers.reduce(0) { sum, number in
            let (result, isTooLarge) = sum.addingReportingOverflow(number)
            return isTooLarge ? .max : result
        }
    }
}
