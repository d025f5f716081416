import Foundation
import Tables

/// How many instructions operations take, which is the same on every machine, however busy it is.
///
/// Counted by valgrind, in a process for each count. The difference of two counts is free of start-up costs.
enum Instructions {
    private static let subjects: [Subject] = [.ours, .future, .floor, .concurrency, .mutexPerSource]

    /// Prints a table of those operations that every run does alike: not those of two threads.
    static func report(_ operations: [Operation]) {
        guard run(["valgrind", "--version"])?.status == 0 else {
            print("instructions are counted by valgrind, which is not installed")
            exit(1)
        }
        var table = Table(["operation, instructions"] + subjects.map(\.rawValue))
        for operation in operations where ![.contended, .tokenContended, .tokenSeparate].contains(operation) {
            table.add([operation.rawValue] + subjects.map { instructions(operation, $0)?.short ?? "–" })
        }
        print(table.lines.joined(separator: "\n"))
    }

    private static func instructions(_ operation: Operation, _ subject: Subject) -> Double? {
        guard subject.body(of: operation) != nil else { return nil }
        let (few, many) = (operation.batch, 3 * operation.batch)
        // Of one that can be done only once, none is the difference.
        let counts = operation == .cancelWide ? (0, 1) : (few, many)
        guard let first = collected(operation, subject, counts.0), let second = collected(operation, subject, counts.1)
        else { return nil }
        return (second - first) / Double(counts.1 - counts.0)
    }

    private static func collected(_ operation: Operation, _ subject: Subject, _ times: Int) -> Double? {
        let valgrind = ["valgrind", "--tool=callgrind", "--callgrind-out-file=/dev/null", CommandLine.arguments[0]]
        return run(valgrind + ["--once", operation.rawValue, subject.rawValue, "\(times)"])?.text.firstMatch(
            of: /Collected : (\d+)/
        ).flatMap { Double($0.1) }
    }

    /// Runs a command. Returns what it writes to standard error.
    private static func run(_ arguments: [String]) -> (status: Int32, text: String)? {
        let process = Process()
        let errors = Pipe()
        process.executableURL = URL(fileURLWithPath: "/usr/bin/env")
        process.arguments = arguments
        process.standardOutput = FileHandle.nullDevice
        process.standardError = errors
        guard (try? process.run()) != nil else { return nil }
        let data = errors.fileHandleForReading.readDataToEndOfFile()
        process.waitUntilExit()
        return (process.terminationStatus, String(decoding: data, as: UTF8.self))
    }
}
