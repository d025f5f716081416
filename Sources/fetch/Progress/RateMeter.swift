/// The rate of the last few seconds.
struct RateMeter {
    private struct Sample {
        let time: Duration
        let bytes: Int64
    }

    private let window: Duration
    private var samples: [Sample] = []

    init(window: Duration = .seconds(5)) {
        self.window = window
    }

    /// Takes in how many bytes there have been until `time`. Neither goes back.
    mutating func record(_ bytes: Int64, at time: Duration) {
        samples.append(Sample(time: time, bytes: bytes))
        // The newest sample that is old enough stays: the window reaches back to it.
        if let start = samples.lastIndex(where: { time - $0.time >= window }) {
            samples.removeFirst(start)
        }
    }

    /// Bytes per second between the ends of the window, or nil before there is anything to tell.
    var rate: Double? {
        guard let first = samples.first, let last = samples.last, last.time > first.time else { return nil }
        return Double(last.bytes - first.bytes) / ((last.time - first.time) / .seconds(1))
    }
}
