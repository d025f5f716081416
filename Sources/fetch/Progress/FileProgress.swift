/// How far one file is.
struct FileProgress: Equatable {
    enum Phase: Equatable {
        case waiting
        case running

        /// Tried again at a time of the program's clock.
        case backingOff(reason: String, until: Duration)

        case saved
        case failed(reason: String)
        case stopped
    }

    var name: String
    var phase = Phase.waiting
    var count = ByteCounter.Count()

    /// Bytes per second: of late while it runs, on the whole when it has ended.
    var rate: Double?

    /// How long it took, when it has ended.
    var elapsed: Duration?

    /// Between 0 and 1, or nil when the whole length is not known.
    var fraction: Double? {
        guard let expected = count.expected else { return phase == .saved ? 1 : nil }
        return expected > 0 ? min(1, Double(count.received) / Double(expected)) : 1
    }

    var remaining: Duration? {
        Self.remaining(received: count.received, expected: count.expected, rate: rate)
    }

    var hasEnded: Bool {
        switch phase {
        case .waiting, .running, .backingOff: false
        case .saved, .failed, .stopped: true
        }
    }

    /// The time until `expected` is there, or nil when that can't be told.
    static func remaining(received: Int64, expected: Int64?, rate: Double?) -> Duration? {
        guard let expected, let rate, rate >= 1, received <= expected else { return nil }
        let seconds = Double(expected - received) / rate
        // Nobody waits for a year.
        return seconds < 31_536_000 ? .seconds(seconds) : nil
    }
}
