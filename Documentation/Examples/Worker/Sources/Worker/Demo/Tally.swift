import Metrics
import Synchronization

/// A backend for swift-metrics that adds up, for the line at the end of the demonstration.
final class Tally: MetricsFactory, CustomStringConvertible {
    private let sums = Mutex<[String: Int64]>([:])

    /// A counter, or the total of a timer.
    private final class Sum: CounterHandler, TimerHandler, RecorderHandler {
        private let name: String
        private let tally: Tally

        init(_ name: String, of tally: Tally) {
            (self.name, self.tally) = (name, tally)
        }

        func increment(by amount: Int64) { tally.sums.withLock { $0[name, default: 0] += amount } }

        func reset() { tally.sums.withLock { $0[name] = 0 } }

        func recordNanoseconds(_ duration: Int64) { increment(by: duration / 1_000_000) }

        func record(_ value: Int64) { increment(by: value) }

        func record(_ value: Double) { increment(by: Int64(value)) }
    }

    private func sum(_ label: String, _ dimensions: [(String, String)]) -> Sum {
        Sum(([label] + dimensions.map(\.1)).joined(separator: " "), of: self)
    }

    func makeCounter(label: String, dimensions: [(String, String)]) -> any CounterHandler { sum(label, dimensions) }

    func makeTimer(label: String, dimensions: [(String, String)]) -> any TimerHandler { sum(label + "_ms", dimensions) }

    func makeRecorder(label: String, dimensions: [(String, String)], aggregate: Bool) -> any RecorderHandler {
        sum(label, dimensions)
    }

    func destroyCounter(_ handler: any CounterHandler) {}

    func destroyTimer(_ handler: any TimerHandler) {}

    func destroyRecorder(_ handler: any RecorderHandler) {}

    var description: String {
        sums.withLock { sums in sums.sorted { $0.key < $1.key }.map { "\($0.key): \($0.value)" }.joined(separator: ", ")
        }
    }
}
