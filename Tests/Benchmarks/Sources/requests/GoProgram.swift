import Foundation

/// The peer in Go, `Go/requests.go`, which is built where `go` is installed.
struct GoProgram {
    let executable: URL

    /// Nil without `go`.
    init?() {
        let package = URL(filePath: #filePath).deletingLastPathComponent().appending(path: "../..").standardizedFileURL
        executable = package.appending(path: ".build/requests-go")
        let build = Process()
        build.executableURL = URL(filePath: "/usr/bin/env")
        build.arguments = ["go", "build", "-o", executable.path, package.appending(path: "Go/requests.go").path]
        build.standardError = FileHandle.nullDevice
        guard (try? build.run()) != nil else { return nil }
        build.waitUntilExit()
        guard build.terminationStatus == 0 else { return nil }
    }
}
