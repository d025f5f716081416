import Foundation

/// Counts instructions, which are the same on any machine and under any load, unlike times.
///
/// This program runs itself under callgrind, with an operation performed a few times and three times as often. The
/// difference excludes start-up costs, but includes the preparation of an operation.
enum Instructions {
    /// Returns the number of instructions for one operation.
    static func count(_ operations: [Operation]) throws -> Medians {
        guard let valgrind = find("valgrind") else {
            print("valgrind is not installed: instructions cannot be counted")
            exit(1)
        }
        var counts: Medians = [:]
        for operation in operations where !operation.isOnTwoThreads {
            for subject in Subject.allCases where subject.body(of: operation) != nil {
                let few = operation.batch == 1 ? 1 : 10 * operation.batch
                let (least, most) = (
                    try run(valgrind, operation, subject, times: few),
                    try run(valgrind, operation, subject, times: 3 * few)
                )
                counts[operation, default: [:]][subject] = (most - least) / Double(2 * few)
            }
        }
        return counts
    }

    private static func run(
        _ valgrind: URL,
        _ operation: Operation,
        _ subject: Subject,
        times: Int
    ) throws -> Double {
        let process = Process()
        process.executableURL = valgrind
        process.arguments = [
            "--tool=callgrind", "--callgrind-out-file=/dev/null", "--main-stacksize=1073741824",
            Bundle.main.executablePath ?? CommandLine.arguments[0],
            "--once", operation.rawValue, subject.rawValue, "\(times)",
        ]
        let output = Pipe()
        process.standardError = output
        try process.run()
        let data = try output.fileHandleForReading.readToEnd() ?? Data()
        process.waitUntilExit()
        let text = String(decoding: data, as: UTF8.self)
        guard let count = text.firstMatch(of: /Collected : ([0-9]+)/)?.1, let count = Double(count) else {
            throw Unreadable(operation: operation, subject: subject, output: text)
        }
        return count
    }

    private static func find(_ program: String) -> URL? {
        (ProcessInfo.processInfo.environment["PATH"] ?? "").split(separator: ":")
            .map { URL(filePath: String($0)).appending(path: program) }
            .first { FileManager.default.isExecutableFile(atPath: $0.path) }
    }

    struct Unreadable: Error, CustomStringConvertible {
        let operation: Operation
        let subject: Subject
        let output: String

        var description: String {
            "callgrind counted nothing for \(operation.rawValue), \(subject.rawValue); if it can't read the program's debug "
                + "information, build with -debug-info-format none: \(output)"
        }
    }
}
