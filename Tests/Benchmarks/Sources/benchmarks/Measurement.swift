import Benchmark

/// Medians, in nanoseconds for one operation.
typealias Medians = [Operation: [Subject: Double]]

/// Measures all subjects of an operation directly one after another, and all operations several times, so that a busy
/// machine slows down both sides of a ratio.
func measure(_ operations: [Operation], rounds: Int, secondsEach: Double) throws -> Medians {
    var samples: [Operation: [Subject: [Double]]] = [:]
    for _ in 0..<rounds {
        for operation in operations {
            let suite = BenchmarkSuite(name: operation.rawValue)
            for subject in Subject.allCases {
                guard let body = subject.body(of: operation) else { continue }
                let count = operation.batch
                suite.benchmark(subject.rawValue) { state in
                    let run = body.prepare(count)
                    try state.measure(f: run)
                }
            }
            var runner = BenchmarkRunner(
                suites: [suite],
                settings: [Quiet(true), Format(.none), WarmupIterations(2), MinTime(seconds: secondsEach)]
            )
            try runner.run()
            for result in runner.results {
                guard let subject = Subject(rawValue: result.benchmarkName) else { continue }
                let perOperation = result.measurements.map { $0 / Double(operation.batch) }
                samples[operation, default: [:]][subject, default: []] += perOperation
            }
        }
    }
    return samples.mapValues { $0.mapValues(median) }
}

private func median(_ samples: [Double]) -> Double {
    let sorted = samples.sorted()
    let middle = sorted.count / 2
    return sorted.count % 2 == 1 ? sorted[middle] : (sorted[middle - 1] + sorted[middle]) / 2
}
