#if os(macOS) || os(Linux)
import Deferred
import DeferredTesting
import Foundation
import TestSupport
import Testing

@testable import fetch

/// Servers and surroundings that do what they should not.
@Suite("fetch: hostile surroundings", .ownThread, .timeLimit(.minutes(5)))
struct HostileTests {
    private static let sum = "sha256:ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad"

    private let directory: TemporaryDirectory

    init() throws {
        directory = try TemporaryDirectory()
    }

    /// Runs the program in the directory.
    private func fetch(_ arguments: String...) async throws -> FetchProcess.Result {
        try await FetchProcess.run(arguments, directory: directory.url)
    }

    /// Runs the program by a line of a shell, in which it is `"$0" "$@"`.
    private func shell(_ line: String, _ arguments: String...) async throws -> FetchProcess.Result {
        let all = ["-c", line, try FetchProcess.executable.path] + arguments
        return try await FetchProcess(all, directory: directory.url, program: "/bin/sh").result()
    }

    @Test func `no URL makes a file outside of the directory, or one that is hidden from its owner`() async throws {
        let server = try LoopbackServer { _ in .response(body: "abc") }
        let long = String(repeating: "x", count: 300)
        let paths = ["/..%2f..%2fa", "/%2e%2e", "//", "/a%00b", "/%0a%1b", "/.bashrc", "/%20.netrc", "/\(long)"]
        let result = try await FetchProcess.run(
            ["-o", "files"] + paths.map { server.url("/").absoluteString.dropLast() + $0 },
            directory: directory.url
        )
        #expect(result.code == 0 && result.outputLines.count == paths.count, "\(result.errors)")
        #expect(try directory.names == ["files"])
        let names = try FileManager.default.contentsOfDirectory(atPath: directory.file("files").path)
        #expect(names.count == paths.count && names.allSatisfy { $0.utf8.count <= 255 && !$0.hasPrefix(".") })
        #expect(!names.joined().unicodeScalars.contains(where: PrintableText.isHarmful))
    }

    @Test func `a body without a length is whole when the connection ends`() async throws {
        let server = try LoopbackServer { _ in .untilClose(body: "abc") }
        let url = server.url("/f").absoluteString
        #expect(try await fetch("-o-", url).output == "abc")
        #expect(try await fetch("--checksum", Self.sum, url).code == 0)
        #expect(try await fetch("--json", url).output.contains("\"bytes\":3,\"error\":null"))
        #expect(try directory.contents(of: "f") == Data("abc".utf8))
    }

    @Test func `a part that nobody asked for is no file`() async throws {
        let server = try LoopbackServer { _ in
            .response(206, headers: ["Content-Range": "bytes 0-2/9"], body: "abc")
        }
        for arguments in [["--json"], ["-o-"], ["-o", "g"], ["--checksum", Self.sum]] {
            let result = try await FetchProcess.run(
                arguments + [server.url("/f").absoluteString],
                directory: directory.url
            )
            #expect(result.code == 1 && result.errorLines.count == 1, "\(arguments) \(result)")
            #expect(result.output == "" || result.output.contains("\"file\":null"))
        }
        #expect(try directory.names == [])
    }

    @Test func `a body that breaks off on standard output is an error, and what came is all that is printed`()
        async throws
    {
        let server = try LoopbackServer { _ in .response(body: "abc", contentLength: 9) + [.close] }
        let result = try await fetch("-o-", server.url("/f").absoluteString)
        #expect(result.code == 1 && result.output == "abc" && server.requestCount == 1)
        #expect(result.errors.contains("the connection ended after 3 B of 9 B"))
    }

    @Test(arguments: ["file:///etc/passwd", "ftp://127.0.0.1/a", "http://", "//"])
    func `a redirect to anything else than a server fails`(location: String) async throws {
        let server = try LoopbackServer { _ in .redirect(to: location) }
        let result = try await fetch("-o-", server.url("/f").absoluteString)
        #expect(result.code == 1 && result.output == "" && result.errorLines.count == 1, "\(result)")
    }

    #if os(Linux)
    @Test func `with standard output closed nothing is written into another file`() async throws {
        let server = try LoopbackServer { _ in .response(body: .pattern(count: 300_000)) }
        for arguments in [["--json"], [], ["-o-"]] {
            let all = ["-c", "exec \"$0\" \"$@\" >&-", try FetchProcess.executable.path] + arguments
            let url = server.url("/f").absoluteString
            let result = try await FetchProcess(all + [url], directory: directory.url, program: "/bin/sh").result()
            #expect(result.code == 1, "\(arguments)")
            #expect(result.errors.contains("cannot write to standard output: Bad file descriptor"), "\(result.errors)")
        }
        #expect(try directory.contents(of: "f") == LoopbackServer.Payload.patternBytes(0..<300_000))
    }
    #endif

    #if os(Linux)
    // ThreadSanitizer writes a file before the program begins.
    @Test(.enabled(if: !isSanitized))
    func `a limit of the size of files ends it with a status, and not by a signal`() async throws {
        let server = try LoopbackServer { _ in .response(body: "f") }
        // The program that runs the tests may ignore the signal, and so would its children.
        let line = "ulimit -f 0; exec env --default-signal=XFSZ \"$0\" \"$@\""
        for arguments in [["--head", server.url("/f").absoluteString], ["--help"]] {
            let all = ["-c", line, try FetchProcess.executable.path] + arguments
            let result = try await FetchProcess(all, directory: directory.url, program: "/bin/sh").result()
            #expect(result.code == 1 && result.output == "", "\(arguments) \(result.code)")
        }
    }
    #endif

    #if os(Linux)
    @Test func `a reader of the lines that has gone ends no download, and not by a signal`() async throws {
        let server = try LoopbackServer { _ in .response(body: "f") }
        let pipe = Pipe()
        try pipe.fileHandleForReading.close()
        let urls = ["/a", "/b"].map { server.url($0).absoluteString }
        let arguments = ["--default-signal=PIPE", try FetchProcess.executable.path, "--max=1"] + urls
        let process = try FetchProcess(
            arguments,
            directory: directory.url,
            terminal: pipe.fileHandleForWriting,
            program: "/usr/bin/env"
        )
        let result = try await process.result()
        #expect(result.code == 1 && result.errors == "fetch: cannot write to standard output: Broken pipe\n")
        #expect(try directory.names == ["a", "b"])
    }
    #endif

    @Test func `signals that nohup and shells have turned off stay so`() async throws {
        let (asked, answer) = (Deferred<Void>(), Deferred<Void>())
        defer { answer.fill() }
        let server = try LoopbackServer { _ in
            asked.fill()
            answer.wait()
            return .response(body: "f")
        }
        let line = "trap '' HUP INT; exec \"$0\" \"$@\""
        let arguments = ["-c", line, try FetchProcess.executable.path, server.url("/f").absoluteString]
        let process = try FetchProcess(arguments, directory: directory.url, program: "/bin/sh")
        try await asked.get()
        process.send(SIGHUP)
        process.send(SIGINT)
        answer.fill()
        let result = try await process.result()
        #expect(result.code == 0 && result.errors == "", "\(result.code) \(result.errors)")
    }

    @Test func `a reader that ends early ends the program`() async throws {
        let server = try LoopbackServer { _ in .response(body: .pattern(count: 5_000_000)) }
        let url = server.url("/f").absoluteString
        let result = try await shell("\"$0\" \"$@\" | head -c 3 | wc -c", "-o-", url)
        #expect(result.output.trimmingCharacters(in: .whitespacesAndNewlines) == "3")
        #expect(result.errorLines.count <= 1)
    }

    @Test func `Ctrl-C ends it while the reader of the contents takes nothing`() async throws {
        let server = try LoopbackServer { _ in .response(body: .pattern(count: 5_000_000)) }
        let pipe = Pipe()
        let process = try FetchProcess(
            ["-o-", server.url("/f").absoluteString],
            terminal: pipe.fileHandleForWriting
        )
        // A pipe holds less than the body.
        #expect(try pipe.fileHandleForReading.read(upToCount: 1)?.count == 1)
        process.send(SIGINT)
        #expect(try await process.result().code == 130)
    }

    @Test func `standard input is read once, and authorities are certificates`() async throws {
        let server = try LoopbackServer { _ in .response(body: "f") }
        let url = server.url("/f").absoluteString
        for arguments in [["-d", "@-", "-d", "@-"], ["-i", "-", "-d@-"], ["--form", "a=@-", "-"]] {
            let result = try await FetchProcess.run(arguments + [url])
            #expect(result.code == 2 && result.errors.hasPrefix("fetch: standard input can be read once"))
        }
        let file = directory.file("ca.pem")
        try Data("none".utf8).write(to: file)
        let result = try await fetch("--cacert", file.path, url)
        #expect(result.code == 2)
        #expect(result.errors.hasPrefix("fetch: \"\(file.path)\" after --cacert has no certificate; "))
        #expect(server.requestCount == 0)
    }
}
#endif
