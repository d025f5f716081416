#if os(macOS) || os(Linux)
import Deferred
import DeferredTesting
import Foundation
import TestSupport
import Testing

@Suite("fetch: failing", .ownThread, .timeLimit(.minutes(5)))
struct FailingTests {
    private let directory: TemporaryDirectory

    init() throws {
        directory = try TemporaryDirectory()
    }

    private func fetch(_ arguments: String...) async throws -> FetchProcess.Result {
        try await FetchProcess.run(["--output", directory.url.path] + arguments)
    }

    @Test func `each failure is one line with URL, reason and advice, and the other files are complete`() async throws {
        let server = try LoopbackServer { request in
            switch request.path {
            case "/good": .response(body: .pattern(count: 50_000))
            case "/short": .response(body: .pattern(count: 1_000), contentLength: 5_000) + [.close]
            default: .response(404)
            }
        }
        let refusing = try RefusingPort()
        let lists = try TemporaryDirectory()
        let list = lists.file("list")
        try Data("example.com/no-scheme\nftp://example.com/y\n".utf8).write(to: list)
        let result = try await fetch(
            server.url("/missing").absoluteString,
            server.url("/short").absoluteString,
            "http://127.0.0.1:\(refusing.number)/x",
            server.url("/good").absoluteString,
            "-i",
            list.path
        )
        withExtendedLifetime(refusing) {}
        #expect(result.code == 1)
        let expected: Set = [
            "fetch: \(server.url("/missing")): the server answered 404 (Not Found); check the path of the URL",
            "fetch: \(server.url("/short")): the connection ended after 1.00 kB of 5.00 kB (tried 5 times); "
                + "try again later",
            "fetch: http://127.0.0.1:\(refusing.number)/x: the host refuses the connection (tried 5 times); "
                + "check host and port",
            "fetch: example.com/no-scheme: it has no scheme; write it like https://example.com/file.zip",
            "fetch: ftp://example.com/y: its scheme is not http or https; write it like https://example.com/file.zip",
        ]
        let lines = Set(result.errorLines.map(String.init))
        #expect(expected.subtracting(lines) == [], "missing from what fetch says:\n\(result.errors)")
        #expect(lines.subtracting(expected) == [], "surplus in what fetch says:\n\(result.errors)")
        #expect(result.errorLines.count == expected.count, "a line comes twice:\n\(result.errors)")
        #expect(result.outputLines.count == 1)
        #expect(try directory.names == ["good"])
        #expect(try directory.contents(of: "good") == LoopbackServer.Payload.patternBytes(0..<50_000))
        let counts = server.requests.reduce(into: [:]) { $0[$1.path, default: 0] += 1 }
        #expect(counts == ["/missing": 1, "/short": 5, "/good": 1])
    }

    #if os(Linux)
    @Test func `a line that can't be printed makes the program fail, but the file is complete`() async throws {
        let server = try LoopbackServer { _ in .response(body: "contents") }
        let full = try #require(FileHandle(forWritingAtPath: "/dev/full"))
        let arguments = ["--output", directory.url.path, server.url("/f").absoluteString]
        let result = try await FetchProcess(arguments, terminal: full).result()
        #expect(result.code == 1)
        #expect(result.errors == "fetch: cannot write to standard output: No space left on device\n")
        #expect(try directory.contents(of: "f") == Data("contents".utf8))
    }
    #endif

    @Test func `a download that fails for a while succeeds in the end`() async throws {
        let server = try LoopbackServer { request in
            request.number < 3 ? .response(503) : .response(body: "at last")
        }
        let result = try await fetch(server.url("/f").absoluteString)
        #expect(result.code == 0)
        #expect(result.errors == "")
        #expect(try directory.contents(of: "f") == Data("at last".utf8))
        #expect(server.requestCount == 3)
    }

    @Test func `a truncated body resumes where it ended, within one run`() async throws {
        let server = try LoopbackServer { request in
            guard request.number > 1 else {
                let start = LoopbackServer.Payload.pattern(count: 1_000)
                return .response(headers: ["ETag": "\"1\""], body: start, contentLength: 5_000) + [.reset]
            }
            return .resumable(.pattern(count: 5_000), for: request)
        }
        let result = try await fetch(server.url("/f").absoluteString)
        #expect(result.code == 0)
        #expect(try directory.contents(of: "f") == LoopbackServer.Payload.patternBytes(0..<5_000))
        #expect(server.requestCount == 2)
        // Bytes that arrived during this run do not count as resumed.
        #expect(!result.output.contains("resumed"))
    }

    @Test func `a part that can be resumed is kept, and the line says so`() async throws {
        let server = try LoopbackServer { _ in
            .response(headers: ["ETag": "\"1\""], body: .pattern(count: 1_000), contentLength: 5_000) + [.close]
        }
        let result = try await fetch(server.url("/f").absoluteString)
        #expect(result.code == 1)
        #expect(result.errors.hasSuffix("try again later (1.00 kB are kept; run the same command again to resume)\n"))
        #expect(try directory.names == ["f.partial", "f.partial.validator"])
    }

    @Test func `a directory that can't be is one line, before anything is asked for`() async throws {
        let server = try LoopbackServer { _ in .response(body: "f") }
        try Data().write(to: directory.file("file"))
        let path = directory.file("file/below").path + "/"
        let result = try await FetchProcess.run(["--output", path, server.url("/f").absoluteString])
        #expect(result.code == 1)
        #expect(
            result.errors == "fetch: cannot write to the directory \"\(path)\": Not a directory; "
                + "choose another one with --output\n"
        )
        #expect(server.requestCount == 0)
    }

    @Test func `a directory where the file should be is left alone`() async throws {
        let server = try LoopbackServer { _ in .response(body: "f") }
        try FileManager.default.createDirectory(at: directory.file("f"), withIntermediateDirectories: false)
        let result = try await fetch(server.url("/f").absoluteString, server.url("/g").absoluteString)
        #expect(result.code == 1)
        #expect(result.errorLines.count == 1)
        #expect(result.errors.contains("/f: Is a directory"))
        #expect(try directory.names == ["f", "g"])
    }

    @Test(arguments: [
        ["--max", "0"], ["--max"], ["--bogus"], ["--output"], ["--max", "x", "http://h/a"], ["h/a"],
        ["http://h/a", "ftp://h"], ["-I"], ["-q", "--json", "http://h/a"],
    ])
    func `usage errors are one line, and say how to get help`(arguments: [String]) async throws {
        let result = try await FetchProcess.run(arguments, directory: directory.url)
        #expect(result.code == 2)
        #expect(result.output == "")
        #expect(result.errorLines.count == 1)
        #expect(result.errors.hasPrefix("fetch: ") && result.errors.hasSuffix("; see fetch --help\n"))
        #expect(try directory.names == [])
    }

    @Test func `a file that backs off yields its place, and returns when the server says`() async throws {
        // The others can take the place only once they have begun, as the first frame shows.
        let haveAllBegun = Deferred<Void>()
        defer { haveAllBegun.fill() }
        let server = try LoopbackServer { request in
            guard request.number == 1 else { return .response(body: "f") }
            haveAllBegun.wait()
            return .response(503, headers: ["Retry-After": "0"])
        }
        let terminal = try PseudoTerminal(columns: 80)
        let urls = ["/busy", "/other", "/third"].map { server.url($0).absoluteString }
        let process = try FetchProcess(["-o", directory.url.path, "--max=1"] + urls, terminal: terminal.child)
        terminal.read()
        #expect(try await terminal.wait(for: "Total 0/3"))
        haveAllBegun.fill()
        #expect(try await process.result().code == 0)
        // Whether the pause, of no length, ends before /other does is up to the scheduler.
        let paths = server.requests.map(\.path)
        #expect(paths.prefix(2) == ["/busy", "/other"])
        #expect(paths.dropFirst(2).sorted() == ["/busy", "/third"])
    }

    @Test func `a file is tried as often as asked for`() async throws {
        let server = try LoopbackServer { _ in .response(503, headers: ["Retry-After": "0"]) }
        for (retries, count) in [(0, 1), (2, 3)] {
            let before = server.requestCount
            let result = try await fetch("--retries", "\(retries)", server.url("/f").absoluteString)
            #expect(result.code == 1)
            #expect(result.errors.contains("(tried 3 times)") == (count == 3))
            #expect(server.requestCount - before == count)
        }
    }

    @Test func `a silent server is given up`() async throws {
        let server = try LoopbackServer { _ in [.stall] }
        let result = try await fetch("--timeout=0.2", "--retries=0", server.url("/f").absoluteString)
        #expect(result.code == 1)
        #expect(result.errors == "fetch: \(server.url("/f")): the server stopped answering; try again later\n")
        #expect(try directory.names == [])
    }

    @Test func `a list without a URL is an error, not the demonstration`() async throws {
        for input in ["", "# nothing\n"] {
            let result = try await FetchProcess.run(["-o", directory.url.path, "-"], input: input)
            #expect(result.code == 1)
            #expect(result.errors == "fetch: the list given with --input contains no URLs\n")
        }
        let missing = directory.file("missing").path
        let result = try await FetchProcess.run(["--input", missing])
        #expect(result.code == 1 && result.errors.hasPrefix("fetch: cannot read \"\(missing)\": "))
    }

    @Test func `a header that can't be sent fails, without showing a secret`() async throws {
        let server = try LoopbackServer { _ in .response(body: "f") }
        let result = try await fetch("-H", "A B: secret", server.url("/f").absoluteString)
        #expect(result.code == 1)
        #expect(result.errors.contains("\"A B\" is not a token") && !result.errors.contains("secret"))
        #expect(server.requestCount == 0)
    }

    @Test func `the version goes to standard output`() async throws {
        let result = try await FetchProcess.run(["--version"])
        #expect(result.code == 0 && result.output.hasPrefix("fetch ") && result.outputLines.count == 1)
    }

    @Test func `help goes to standard output`() async throws {
        let result = try await FetchProcess.run(["--help"])
        #expect(result.code == 0)
        #expect(result.output.hasPrefix("Usage: fetch "))
        #expect(result.errors == "")
    }
}
#endif
