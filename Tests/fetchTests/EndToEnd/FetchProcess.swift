#if os(macOS) || os(Linux)
import Deferred
import Foundation
import TestSupport
import Testing

/// The built program, run as a child process.
final class FetchProcess: Sendable {
    struct Result {
        let code: Int32
        let output: String
        let errors: String

        var outputLines: [Substring] { output.split(separator: "\n") }
        var errorLines: [Substring] { errors.split(separator: "\n") }
    }

    /// The files that receive standard output and standard error: unlike pipes, they never fill up.
    private let streams: TemporaryDirectory
    private let process: RunningProcess
    private let exit = Deferred<Int32>()

    /// - Parameters:
    ///   - input: The contents of standard input; `nil` for an empty device.
    ///   - terminal: The standard output, which may be another device; without it, a file.
    ///   - program: Another program, which runs the built one.
    init(
        _ arguments: [String],
        environment: [String: String] = [:],
        directory: URL? = nil,
        input: String? = nil,
        terminal: FileHandle? = nil,
        program: String? = nil
    ) throws {
        streams = try TemporaryDirectory()
        let child = Process()
        child.executableURL = try program.map { URL(filePath: $0) } ?? Self.executable
        child.arguments = arguments
        #if os(Linux)
        // In the background, the tests may ignore these signals, and so would the program.
        if program == nil {
            child.executableURL = URL(filePath: "/usr/bin/env")
            child.arguments = ["--default-signal=HUP,INT,TERM,TSTP", try Self.executable.path] + arguments
        }
        #endif
        child.currentDirectoryURL = directory
        child.environment = ["PATH": "/usr/bin:/bin", "TERM": "xterm", "LANG": "C.UTF-8"].merging(environment) { $1 }
        let file = streams.file("input")
        try Data((input ?? "").utf8).write(to: file)
        child.standardInput = input == nil ? FileHandle.nullDevice : try FileHandle(forReadingFrom: file)
        child.standardOutput = try terminal ?? Self.create(streams.file("output"))
        child.standardError = try Self.create(streams.file("errors"))
        child.terminationHandler = { [exit] child in
            // Reports a fatal signal as shells do, as 128 plus its number.
            exit.fill(with: child.terminationStatus + (child.terminationReason == .uncaughtSignal ? 128 : 0))
        }
        try child.run()
        process = RunningProcess(child)
    }

    func send(_ signal: Int32) {
        kill(process.identifier, signal)
    }

    /// Waits for the end. When the test is cancelled, by its time limit, the process is killed.
    func result() async throws -> Result {
        let code = try await withTaskCancellationHandler {
            try await exit.get()
        } onCancel: {
            send(SIGKILL)
        }
        let errors = try String(contentsOf: streams.file("errors"), encoding: .utf8)
        // A report of a sanitizer changes the exit code only if that would be 0.
        if errors.contains("Sanitizer: ") { Issue.record("a sanitizer found a defect in fetch:\n\(errors)") }
        return Result(
            code: code,
            output: (try? String(contentsOf: streams.file("output"), encoding: .utf8)) ?? "",
            errors: errors
        )
    }

    static func run(_ arguments: [String], directory: URL? = nil, input: String? = nil) async throws -> Result {
        try await FetchProcess(arguments, directory: directory, input: input).result()
    }

    /// The program lies next to the bundle, or the program, that contains these tests. On macOS the tests are three
    /// levels deep in their bundle, and another program runs them.
    static var executable: URL {
        get throws {
            let bundles = [Bundle.main] + Bundle.allBundles
            let paths =
                ProcessInfo.processInfo.arguments + bundles.flatMap { [$0.bundlePath, $0.executablePath ?? ""] }
            let candidates = paths.filter { $0.hasPrefix("/") || $0.contains("/") }.flatMap { path in
                sequence(first: URL(fileURLWithPath: path).deletingLastPathComponent()) {
                    $0.deletingLastPathComponent()
                }
                .prefix(4).map { $0.appending(path: "fetch") }
            }
            return try #require(
                candidates.first { FileManager.default.isExecutableFile(atPath: $0.path) },
                "fetch is not beside the tests; looked for \(candidates.map(\.path))"
            )
        }
    }

    private static func create(_ file: URL) throws -> FileHandle {
        try Data().write(to: file)
        return try FileHandle(forWritingTo: file)
    }
}

// SAFETY: the process is only kept alive, and its identifier never changes.
private final class RunningProcess: @unchecked Sendable {
    let identifier: Int32
    private let process: Process

    init(_ process: Process) {
        self.process = process
        identifier = process.processIdentifier
    }
}
#endif
