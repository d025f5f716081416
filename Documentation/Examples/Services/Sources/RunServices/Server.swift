import Deferred
import Foundation

/// A server of a package, on a free port of 127.0.0.1, with a folder of its own.
final class Server {
    let folder: URL
    let port: Int
    private let program: URL
    private let arguments: [String]
    private var process = Process()

    /// Returns nil if the server isn't installed.
    init?(_ program: String, _ arguments: (_ folder: URL, _ port: Int) throws -> [String]) throws {
        let path = ["/usr/bin/", "/usr/sbin/"].map { $0 + program }.first {
            FileManager.default.isExecutableFile(atPath: $0)
        }
        guard let path else {
            print("skipped: \(program) is not installed")
            return nil
        }
        folder = FileManager.default.temporaryDirectory.appending(path: "services-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        port = Int.random(in: 20_000...30_000)
        self.program = URL(filePath: path)
        self.arguments = try arguments(folder, port)
        try start()
    }

    /// The server, as requests are to name it.
    var environment: HTTPEnvironment { HTTPEnvironment(scheme: "http", host: "127.0.0.1", port: port) }

    /// Waits until the server answers a request, which it does once it has started.
    func waitUntilReady(_ request: HTTPRequest) async throws {
        let strategy = RetryStrategy.custom { attempt in
            let isReady = attempt.response.map { $0.status != .serviceUnavailable } ?? false
            return isReady || attempt.number == 100 ? nil : .milliseconds(100)
        }
        _ = try await (Retry(strategy) --> ApplyEnvironment(environment) --> URLSessionLoader()).load(request).get()
    }

    /// Ends the server as `kill -9` does, and starts it again.
    func crash() throws {
        end()
        try start()
    }

    func stop() {
        end()
        try? FileManager.default.removeItem(at: folder)
    }

    /// Not by `SIGTERM`, which threads of Dispatch block: a server that is started by one inherits that.
    private func end() {
        kill(process.processIdentifier, SIGKILL)
        process.waitUntilExit()
    }

    private func start() throws {
        process = Process()
        process.executableURL = program
        process.arguments = arguments
        process.standardOutput = FileHandle.nullDevice
        process.standardError = FileHandle.nullDevice
        try process.run()
    }
}

/// A service has done something else than expected.
struct Unexpected: Error { let words: String }

func check(_ condition: Bool, _ words: String) throws {
    if !condition { throw Unexpected(words: words) }
}
