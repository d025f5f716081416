/// Measures the rate of the last few seconds.
package struct RateMeter: Sendable {
    private struct Sample: Sendable {
        let time: Duration
        let completed: Int64
    }

    private let window: Duration
    private var samples: [Sample] = []

    package init(window: Duration = .seconds(5)) {
        self.window = window
    }

    /// Records the number of units completed until `time`. A time before the previous one counts as that one.
    package mutating func record(_ completed: Int64, at time: Duration) {
        // Limited to times that can be subtracted.
        let time = min(max(time, samples.last?.time ?? .zero), .seconds(Int64.max))
        // Keeps at most about 60 samples, however often it is called.
        if samples.count > 1, time - samples[samples.count - 2].time < window / 60 { samples.removeLast() }
        samples.append(Sample(time: time, completed: completed))
        // The newest sample that is old enough stays, as the start of the window.
        if let start = samples.lastIndex(where: { time - $0.time >= window }) {
            samples.removeFirst(start)
        }
    }

    /// Units per second over the window, 0 or more; nil before there is anything to measure.
    package var rate: Double? {
        guard let first = samples.first, let last = samples.last, last.time > first.time else { return nil }
        let units = max(Int128(last.completed) - Int128(first.completed), 0)
        return Double(units) / ((last.time - first.time) / .seconds(1))
    }
}
