import Foundation
import Tables

/// The memory use of pending futures, as the `footprint` executable measures it in a separate process.
struct Footprint: Decodable {
    var futureBlocks, futureBytes: Double
    var handledBlocks, handledBytes: Double
    var handlerBlocks, handlerBytes: Double

    private struct Peak: Decodable {
        var peak: Double
    }

    private static let subjects: [Subject] = [.ours, .eventLoopFuture, .openCombine]

    /// Prints a table, and returns the footprint of this library.
    static func report() throws -> Footprint? {
        var table = Table(["memory, bytes (allocations)", "Deferred", "EventLoopFuture", "OpenCombine"])
        let all = try subjects.map { try run($0, "heap", as: Footprint.self) }
        let peaks = try subjects.map { try run($0, "peak", as: Peak.self).peak }
        func row(_ name: String, _ bytes: KeyPath<Footprint, Double>, _ blocks: KeyPath<Footprint, Double>) {
            table.add([name] + all.map { "\($0[keyPath: bytes].short) (\($0[keyPath: blocks].short))" })
        }
        // Without glibc, nothing is counted.
        guard let ours = all.first, ours.futureBlocks > 0 else { return nil }
        row("a pending future", \.futureBytes, \.futureBlocks)
        row("a pending future with one handler", \.handledBytes, \.handledBlocks)
        row("each further handler", \.handlerBytes, \.handlerBlocks)
        table.add(["peak of a million with one handler, MB"] + peaks.map { ($0 / 1e6).short })
        print("\n" + table.lines.joined(separator: "\n"))
        return ours
    }

    var targets: [[String]] {
        [
            [
                "a pending future with one handler", "≤ 2 allocations", handledBlocks.short,
                verdict(isMet: handledBlocks < 2.01, missedBy: handledBlocks / 2),
            ],
            [
                "a pending future with one handler", "≤ 160 bytes", handledBytes.short,
                verdict(isMet: handledBytes < 160.5, missedBy: handledBytes / 160),
            ],
        ]
    }

    private static func run<Output: Decodable>(_ subject: Subject, _ what: String, as: Output.Type) throws -> Output {
        let process = Process()
        let output = Pipe()
        let ours = URL(fileURLWithPath: CommandLine.arguments[0])
        process.executableURL = ours.deletingLastPathComponent().appendingPathComponent("footprint")
        process.arguments = [subject.rawValue, what]
        process.standardOutput = output
        try process.run()
        let data = output.fileHandleForReading.readDataToEndOfFile()
        process.waitUntilExit()
        return try JSONDecoder().decode(Output.self, from: data)
    }
}
