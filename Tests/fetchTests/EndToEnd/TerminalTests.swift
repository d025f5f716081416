#if os(macOS) || os(Linux)
import DeferredTesting
import Foundation
import TestSupport
import Testing

@Suite("fetch: on a terminal", .ownThread, .timeLimit(.minutes(5)))
struct TerminalTests {
    private let directory: TemporaryDirectory

    init() throws {
        directory = try TemporaryDirectory()
    }

    /// Runs the program on a terminal until it ends.
    private func run(
        _ urls: [URL],
        columns: UInt16,
        environment: [String: String] = [:]
    ) async throws -> (FetchProcess.Result, output: String) {
        let terminal = try PseudoTerminal(columns: columns)
        let process = try FetchProcess(
            ["-o", directory.url.path] + urls.map(\.absoluteString),
            environment: environment,
            terminal: terminal.child
        )
        terminal.read()
        return (try await process.result(), try await terminal.wholeText())
    }

    private func slowServer() throws -> LoopbackServer {
        try LoopbackServer { request in
            guard request.path != "/missing" else { return .response(404) }
            return .response(body: .pattern(count: 40_000)).dripped(1_000, every: .milliseconds(10))
        }
    }

    @Test(arguments: [40, 80, 200] as [UInt16])
    func `there are bars that move, a total, and in the end the cursor again`(columns: UInt16) async throws {
        let server = try slowServer()
        let (result, output) = try await run([server.url("/a"), server.url("/b")], columns: columns)
        #expect(result.code == 0)
        #expect(output.hasPrefix("\u{1B}[?25l") && output.hasSuffix("\u{1B}[?25h"))
        #expect(output.contains("█") && output.contains("░") && output.contains("Total 0/2"))
        var terminal = VirtualTerminal(columns: Int(columns))
        terminal.feed(output)
        #expect(terminal.unknownSequences.isEmpty)
        #expect(terminal.lines.count == 3)
        #expect(Set(terminal.lines.prefix(2).map { $0.prefix(1) }) == ["a", "b"])
        #expect(terminal.lines.prefix(2).allSatisfy { $0.contains("100%") })
        #expect(terminal.lines[2].hasPrefix("2 of 2 files saved, 80.0 kB"))
    }

    @Test func `a failure has a line among the bars, and one on standard error`() async throws {
        let server = try slowServer()
        let (result, output) = try await run([server.url("/a"), server.url("/missing")], columns: 80)
        #expect(result.code == 1)
        #expect(result.errorLines.count == 1)
        var terminal = VirtualTerminal(columns: 80)
        terminal.feed(output)
        #expect(terminal.lines.contains { $0.hasPrefix("missing") && $0.contains("failed: the server answered 404") })
        #expect(terminal.lines.last?.hasPrefix("1 of 2 files saved, 1 failed, 40.0 kB") == true)
    }

    @Test func `a line of a list that is no URL counts as a file that failed`() async throws {
        let server = try slowServer()
        let list = directory.file("list")
        try Data("h/a\n\(server.url("/a").absoluteString)\n".utf8).write(to: list)
        let terminal = try PseudoTerminal(columns: 80)
        let process = try FetchProcess(["-o", directory.url.path, "-i", list.path], terminal: terminal.child)
        terminal.read()
        #expect(try await process.result().code == 1)
        var screen = VirtualTerminal(columns: 80)
        screen.feed(try await terminal.wholeText())
        #expect(screen.lines.last?.hasPrefix("1 of 2 files saved, 1 failed, 40.0 kB") == true)
    }

    @Test func `NO_COLOR has bars without colours`() async throws {
        let server = try slowServer()
        let (result, output) = try await run([server.url("/a")], columns: 80, environment: ["NO_COLOR": "1"])
        #expect(result.code == 0)
        #expect(output.contains("█") && !output.contains("\u{1B}[32m") && !output.contains("m█"))
    }

    @Test func `outside UTF-8 bars are ASCII`() async throws {
        let server = try slowServer()
        let (_, output) = try await run([server.url("/a")], columns: 80, environment: ["LANG": "C"])
        #expect(output.contains("##") && output.allSatisfy(\.isASCII))
    }

    @Test func `a dumb terminal gets plain lines`() async throws {
        let server = try slowServer()
        let (result, output) = try await run([server.url("/a")], columns: 80, environment: ["TERM": "dumb"])
        #expect(result.code == 0)
        #expect(!output.contains("\u{1B}"))
        #expect(output.split(separator: "\r\n").count == 1)
    }

    @Test func `lines follow the terminal's width when it changes`() async throws {
        let server = try LoopbackServer { request in
            let steps = LoopbackServer.Script.response(body: .pattern(count: 3_000_000), contentLength: 6_000_000)
            return steps + [.stall]
        }
        let terminal = try PseudoTerminal(columns: 100)
        let arguments = ["-o", directory.url.path, server.url("/f").absoluteString]
        let process = try FetchProcess(arguments, environment: ["NO_COLOR": "1"], terminal: terminal.child)
        terminal.read()
        #expect(try await terminal.wait(for: "] \u{20}50% 3.00 MB"))
        terminal.resize(columns: 40)
        // At this width there is no room for sizes; the bar is ten cells long.
        #expect(try await terminal.wait(for: "[█████░░░░░]  50%"))
        process.send(SIGINT)
        #expect(try await process.result().code == 130)
    }
}
#endif
