import Foundation

/// The current time, and the processor time that this process has used so far.
struct Usage {
    let time = ContinuousClock.now
    let processorSeconds: Double

    init() {
        var time = timespec()
        clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &time)
        processorSeconds = Double(time.tv_sec) + Double(time.tv_nsec) / 1e9
    }

    /// The peak resident memory, in MiB.
    static var peak: Double { status("VmHWM") }

    /// The resident memory, in MiB.
    static var resident: Double { status("VmRSS") }

    /// The resident memory, in MiB, without the pages of files: of the program itself, and of the libraries in it.
    static var anonymous: Double { status("RssAnon") }

    private static func status(_ name: String) -> Double {
        let lines = (try? String(contentsOfFile: "/proc/self/status", encoding: .utf8))?.split(separator: "\n") ?? []
        let line = lines.first { $0.hasPrefix(name + ":") } ?? ""
        return line.split(whereSeparator: \.isWhitespace).dropFirst().first.flatMap { Double($0) }.map { $0 / 1_024 }
            ?? 0
    }
}

/// The result of a measurement, as a child process prints it.
struct Sample: Codable {
    /// Requests per second or, for a stream, MiB per second.
    var rate: Double
    /// The processor time for a request or, for a stream, for a MiB.
    var processorMicroseconds: Double
    /// The peak resident memory, in MiB.
    var peak: Double
    /// The resident memory at the end, in MiB.
    var resident: Double
    /// The part of it that is not of files, in MiB.
    var anonymous: Double
    var failures: Int

    /// Creates a sample of the medians of all figures.
    init(medianOf samples: [Sample]) {
        func median(_ figure: (Sample) -> Double) -> Double { samples.map(figure).sorted()[samples.count / 2] }
        rate = median(\.rate)
        processorMicroseconds = median(\.processorMicroseconds)
        peak = median(\.peak)
        resident = median(\.resident)
        anonymous = median(\.anonymous)
        failures = samples.reduce(0) { $0 + $1.failures }
    }

    init(_ count: Double, failures: Int, since start: Usage) {
        let now = Usage()
        rate = count / ((now.time - start.time) / .seconds(1))
        processorMicroseconds = (now.processorSeconds - start.processorSeconds) / count * 1e6
        peak = Usage.peak
        resident = Usage.resident
        anonymous = Usage.anonymous
        self.failures = failures
    }
}
