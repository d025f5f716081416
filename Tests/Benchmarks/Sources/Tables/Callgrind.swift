import Foundation

/// Counts instructions, which are the same on any machine and under any load, unlike times.
public enum Callgrind {
    /// Runs this program under callgrind, to do something a few times and three times as often.
    ///
    /// The difference is free of start-up costs.
    ///
    /// - Parameter arguments: Returns the arguments that let the program do it so many times.
    /// - Returns: The instructions that it takes once.
    public static func count(_ few: Int, _ arguments: (Int) -> [String]) throws -> Double {
        try (run(arguments(3 * few)) - run(arguments(few))) / Double(2 * few)
    }

    private static func run(_ arguments: [String]) throws -> Double {
        guard let valgrind = find("valgrind") else {
            print("valgrind is not installed: instructions cannot be counted")
            exit(1)
        }
        let process = Process()
        process.executableURL = valgrind
        process.arguments =
            [
                "--tool=callgrind", "--callgrind-out-file=/dev/null", "--main-stacksize=1073741824",
                Bundle.main.executablePath ?? CommandLine.arguments[0],
            ] + arguments
        let output = Pipe()
        process.standardOutput = FileHandle.nullDevice
        process.standardError = output
        try process.run()
        let data = try output.fileHandleForReading.readToEnd() ?? Data()
        process.waitUntilExit()
        let text = String(decoding: data, as: UTF8.self)
        guard process.terminationStatus == 0, let count = text.firstMatch(of: /Collected : ([0-9]+)/)?.1,
            let count = Double(count)
        else {
            throw Unreadable(arguments: arguments, output: text)
        }
        return count
    }

    private static func find(_ program: String) -> URL? {
        (ProcessInfo.processInfo.environment["PATH"] ?? "").split(separator: ":")
            .map { URL(filePath: String($0)).appending(path: program) }
            .first { FileManager.default.isExecutableFile(atPath: $0.path) }
    }

    struct Unreadable: Error, CustomStringConvertible {
        let arguments: [String]
        let output: String

        var description: String {
            "callgrind counted nothing for \(arguments.joined(separator: " ")), or this failed; if it can't read the program's "
                + "debug information, build with -debug-info-format none: \(output)"
        }
    }
}
