import Foundation
import Tables

/// The tables.
struct Report {
    let server: String
    let isQuick: Bool

    private var rounds: Int { isQuick ? 1 : 3 }
    private var streamed: String { isQuick ? "2 MB" : "1 GiB" }

    func printRequests() throws {
        var table = Table(["requests/s (µs of processor each)"] + EngineName.allCases.map(\.rawValue))
        for inFlight in [1, 8, 64, 256] {
            let samples = try EngineName.allCases.map { try sample($0, "requests", isQuick ? 500 : 10_000, inFlight) }
            let cells = samples.map { "\($0.rate.short) (\($0.processorMicroseconds.short))" }
            table.add(["\(inFlight) in flight"] + cells)
        }
        print(table.lines.joined(separator: "\n"))
    }

    func printStreams() throws {
        var table = Table(["\(streamed) as a stream", "MiB/s", "µs of processor a MiB", "peak, MiB"])
        for engine in [EngineName.client, .delegate, .asyncHTTPClient] {
            let sample = try stream(engine)
            table.add([engine.rawValue, sample.rate.short, sample.processorMicroseconds.short, sample.peak.short])
        }
        print("\n" + table.lines.joined(separator: "\n"))
    }

    func printTargets() throws {
        var table = Table(["target", "promised", "measured", ""])
        func add(_ name: String, _ promise: String, _ measured: Double, _ isMet: Bool) {
            table.add([name, promise, measured.short, isMet ? "met" : "missed"])
        }
        // Side by side once more, so that a busy machine slows both.
        let count = isQuick ? 500 : 20_000
        var best: [Double] = []
        for _ in 0..<rounds {
            let ours = try sample(.client, "requests", count, 64).rate
            let others = try EngineName.bare.map { try sample($0, "requests", count, 64).rate }
            best.append(ours / (others.max() ?? 1))
        }
        let ratio = best.sorted()[best.count / 2]
        add("requests/s with 64 in flight", "≥ 1 × the best bare way", ratio, ratio >= 1)

        let (ours, bare) = (try stream(.client), try stream(.delegate))
        add("\(streamed) stream, peak in MiB", "≤ 60", ours.peak, ours.peak <= 60)
        let speed = ours.rate / bare.rate
        add("\(streamed) stream, MiB/s", "≥ 0.9 × a delegate session", speed, speed >= 0.9)

        let many = isQuick ? 2_000 : 100_000
        let (after, bareAfter) = (
            try sample(.client, "requests", many, 64).resident, try sample(.handler, "requests", many, 64).resident
        )
        add(
            "memory after \(many) requests",
            "≤ 1.1 × bare URLSession's",
            after / bareAfter,
            after <= 1.1 * bareAfter
        )
        print("\n" + table.lines.joined(separator: "\n"))
    }

    private func stream(_ engine: EngineName) throws -> Sample {
        try sample(engine, "stream", 1, 1, path: isQuick ? "/text.txt" : "/fast/1g")
    }

    /// One measurement in a process of its own.
    private func sample(
        _ engine: EngineName,
        _ kind: String,
        _ count: Int,
        _ inFlight: Int,
        path: String = "/1k"
    ) throws -> Sample {
        let process = Process()
        let output = Pipe()
        process.executableURL = URL(fileURLWithPath: CommandLine.arguments[0])
        process.arguments = ["--measure", engine.rawValue, kind, "\(count)", "\(inFlight)", server + path]
        process.standardOutput = output
        try process.run()
        let data = output.fileHandleForReading.readDataToEndOfFile()
        process.waitUntilExit()
        let sample = try JSONDecoder().decode(Sample.self, from: data)
        if sample.failures > 0 { print("\(engine.rawValue): \(sample.failures) of \(count) failed") }
        return sample
    }
}
