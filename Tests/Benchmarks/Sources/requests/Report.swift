import Foundation
import Tables

/// Prints the tables.
struct Report {
    let server: String
    let isQuick: Bool

    private var targets = Table(["target", "promised", "measured", ""])

    init(server: String, isQuick: Bool) {
        self.server = server
        self.isQuick = isQuick
    }

    mutating func printRequests() throws {
        let engines = EngineName.allCases
        let peers = [PeerProgram.go, .c].compactMap { $0 }
        let subjects = engines.map { Subject.engine($0) } + peers.map { .peer($0) }
        var table = Table(["requests/s (µs of processor each)"] + subjects.map(\.name))
        for inFlight in [1, 8, 64, 256] {
            let samples = try medians(subjects) { try sample($0, "requests", isQuick ? 500 : 10_000, inFlight) }
            let cells = samples.map { "\($0.rate.short) (\($0.processorMicroseconds.short))" }
            table.add(["\(inFlight) in flight"] + cells)
            for (peer, sample) in zip(peers, samples.suffix(peers.count)) {
                if peer.executable == PeerProgram.go?.executable { compare(samples[0], to: sample, inFlight) }
            }
            guard inFlight == 64 else { continue }
            let rates = Dictionary(uniqueKeysWithValues: zip(engines, samples.map(\.rate)))
            let best = EngineName.bare.map { rates[$0]! }.max()!
            let ratio = rates[.client]! / best
            add("requests/s with 64 in flight", "≥ 6 × the best bare way", ratio, isMet: ratio >= 6)
            let toPeer = rates[.client]! / rates[.asyncHTTPClient]!
            add("the same", "≥ 1 × async-http-client", toPeer, isMet: toPeer >= 1)
            let overSession = rates[.sessionClient]! / best
            add("the same over URLSession", "≥ 1 × the best bare way", overSession, isMet: overSession >= 1)
        }
        print(table.lines.joined(separator: "\n"))
    }

    /// Adds the targets beside Go.
    private mutating func compare(_ client: Sample, to go: Sample, _ inFlight: Int) {
        let promises = [1: 1.0, 8: 0.75, 64: 0.9]
        guard let promise = promises[inFlight] else { return }
        let ratio = client.rate / go.rate
        add("requests/s with \(inFlight) in flight", "≥ \(promise) × Go's net/http", ratio, isMet: ratio >= promise)
        guard inFlight == 64 else { return }
        let cost = client.processorMicroseconds / go.processorMicroseconds
        add("processor time of one of these", "≤ 1.4 × Go's net/http", cost, isMet: cost <= 1.4)
    }

    /// Prints the instructions in user space of all threads.
    func printInstructions() throws {
        let engines: [EngineName] = [.client, .chain, .asyncHTTPClient, .asyncHTTPClientChain, .sessionClient]
        var table = Table(["instructions a request"] + engines.map(\.rawValue))
        for inFlight in isQuick ? [64] : [1, 8, 64] {
            let counts = try engines.map { engine in
                try Callgrind.count(isQuick ? 100 : 500) {
                    arguments(engine, "requests", $0, inFlight, path: "/fast/1k")
                }
            }
            table.add(["\(inFlight) in flight"] + counts.map(\.short))
        }
        print(table.lines.joined(separator: "\n"))
    }

    mutating func printStreams() throws {
        let (size, path) = isQuick ? ("2 MB", "/text.txt") : ("1 GiB", "/fast/1g")
        var table = Table(["\(size) as a stream", "MiB/s", "µs of processor a MiB", "peak, MiB", "without files, MiB"])
        let engines: [EngineName] = [.client, .sessionClient, .delegate, .asyncHTTPClient]
        let subjects = engines.map { Subject.engine($0) } + (PeerProgram.go.map { [.peer($0)] } ?? [])
        let samples = try medians(subjects) { try sample($0, "stream", 1, 1, path: path) }
        for (subject, sample) in zip(subjects, samples) {
            let figures = [sample.rate, sample.processorMicroseconds, sample.peak, sample.anonymous]
            table.add([subject.name] + figures.map(\.short))
        }
        print("\n" + table.lines.joined(separator: "\n"))
        add("\(size) stream, peak in MiB", "≤ 32", samples[0].peak, isMet: samples[0].peak <= 32)
        add("the same over URLSession", "≤ 60", samples[1].peak, isMet: samples[1].peak <= 60)
        let ratio = samples[1].rate / samples[2].rate
        add("\(size) stream over URLSession, MiB/s", "≥ 0.9 × a delegate session", ratio, isMet: ratio >= 0.9)
    }

    mutating func printTargets() throws {
        let count = isQuick ? 2_000 : 100_000
        let after = try [EngineName.client, .handler].map { try sample(.engine($0), "requests", count, 64).resident }
        let ratio = after[0] / after[1]
        add("memory after \(count) requests", "≤ 1.1 × bare URLSession's", ratio, isMet: ratio <= 1.1)
        print("\n" + targets.lines.joined(separator: "\n"))
    }

    private mutating func add(_ name: String, _ promise: String, _ measured: Double, isMet: Bool) {
        targets.add([name, promise, measured.short, isMet ? "met" : "missed"])
    }

    /// A way to make requests: an engine of this program, or another program.
    private enum Subject {
        case engine(EngineName)
        case peer(PeerProgram)

        var name: String {
            switch self {
            case .engine(let engine): engine.rawValue
            case .peer(let program): program.name
            }
        }
    }

    /// Returns the medians of each subject. They take turns, several times, so that a busy machine slows all of them.
    private func medians(_ subjects: [Subject], _ measure: (Subject) throws -> Sample) rethrows -> [Sample] {
        let rounds = try (0..<(isQuick ? 1 : 3)).map { _ in try subjects.map(measure) }
        return subjects.indices.map { subject in Sample(medianOf: rounds.map { $0[subject] }) }
    }

    /// Makes one measurement in a separate process.
    private func sample(
        _ subject: Subject,
        _ kind: String,
        _ count: Int,
        _ inFlight: Int,
        path: String = "/fast/1k"
    ) throws -> Sample {
        let process = Process()
        let output = Pipe()
        switch subject {
        case .engine(let engine):
            process.executableURL = URL(fileURLWithPath: CommandLine.arguments[0])
            process.arguments = arguments(engine, kind, count, inFlight, path: path)
        case .peer(let program):
            process.executableURL = program.executable
            process.arguments = [kind, "\(count)", "\(inFlight)", server + path]
        }
        process.standardOutput = output
        try process.run()
        let data = output.fileHandleForReading.readDataToEndOfFile()
        process.waitUntilExit()
        let sample = try JSONDecoder().decode(Sample.self, from: data)
        if sample.failures > 0 { print("\(subject.name): \(sample.failures) of \(count) failed") }
        return sample
    }

    private func arguments(
        _ engine: EngineName,
        _ kind: String,
        _ count: Int,
        _ inFlight: Int,
        path: String
    ) -> [String] {
        ["--measure", engine.rawValue, kind, "\(count)", "\(inFlight)", server + path]
    }
}
