import Foundation

/// A peer in another language, whose program is built on the spot.
struct PeerProgram {
    let name: String
    let executable: URL

    /// `Go/requests.go`; nil without `go`.
    static let go = PeerProgram("Go's net/http", source: "Go/requests.go") { ["go", "build", "-o", $1, $0] }

    /// `C/requests.c`, the limit of what an engine over libcurl can be; nil without a compiler and libcurl's headers.
    static let c = PeerProgram("libcurl in C", source: "C/requests.c") {
        ["cc", "-O2", "-pthread", "-o", $1, $0, "-lcurl"]
    }

    private init?(_ name: String, source: String, command: (_ source: String, _ output: String) -> [String]) {
        self.name = name
        let package = URL(filePath: #filePath).deletingLastPathComponent().appending(path: "../..").standardizedFileURL
        executable = package.appending(path: ".build/\(source.replacing("/", with: "-"))")
        let build = Process()
        build.executableURL = URL(filePath: "/usr/bin/env")
        build.arguments = command(package.appending(path: source).path, executable.path)
        build.standardError = FileHandle.nullDevice
        guard (try? build.run()) != nil else { return nil }
        build.waitUntilExit()
        guard build.terminationStatus == 0 else { return nil }
    }
}
