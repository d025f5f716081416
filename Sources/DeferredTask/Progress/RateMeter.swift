/// The rate of the last few seconds.
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

    /// Takes in how many units there have been until `time`. A time before the last one counts as that.
    package mutating func record(_ completed: Int64, at time: Duration) {
        // Within what can be subtracted.
        let time = min(max(time, samples.last?.time ?? .zero), .seconds(Int64.max))
        // However often it is told, it remembers no more than some 60 samples.
        if samples.count > 1, time - samples[samples.count - 2].time < window / 60 { samples.removeLast() }
        samples.append(Sample(time: time, completed: completed))
        // The newest sample that is old enough stays: the window reaches back to it.
        if let start = samples.lastIndex(where: { time - $0.time >= window }) {
            samples.removeFirst(start)
        }
    }

    /// Units per second between the ends of the window, 0 or more, or nil before there is anything to tell.
    package var rate: Double? {
        guard let first = samples.first, let last = samples.last, last.time > first.time else { return nil }
        let units = max(last.completed.subtractingSaturated(first.completed), 0)
        return Double(units) / ((last.time - first.time) / .seconds(1))
    }
}
