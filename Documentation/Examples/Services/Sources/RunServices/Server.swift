import Foundation

/// A server of a package, on a free port of 127.0.0.1, with a folder of its own.
struct Server {
    let process = Process()
    let folder: URL
    let port: Int

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
        process.executableURL = URL(filePath: path)
        process.arguments = try arguments(folder, port)
        process.standardOutput = FileHandle.nullDevice
        process.standardError = FileHandle.nullDevice
        try process.run()
    }

    func stop() {
        process.terminate()
        process.waitUntilExit()
        try? FileManager.default.removeItem(at: folder)
    }
}
