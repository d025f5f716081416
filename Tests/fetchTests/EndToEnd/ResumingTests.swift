#if os(macOS) || os(Linux)
import Deferred
import DeferredTesting
import Foundation
import TestSupport
import Testing

@Suite("fetch: stopping and resuming", .ownThread, .timeLimit(.minutes(5)))
struct ResumingTests {
    private static let length = 1_000_000
    private static let stop = 300_000

    private let directory: TemporaryDirectory

    init() throws {
        directory = try TemporaryDirectory()
    }

    /// Stalls in the middle of the file, and serves the rest to clients that resume.
    private static func resumableScript(_ request: LoopbackServer.Request, tag: String = "\"1\"")
        -> LoopbackServer.Script
    {
        guard request.headers["If-Range"] == tag else {
            let start = LoopbackServer.Payload.pattern(count: stop)
            return .response(headers: ["ETag": tag], body: start, contentLength: length) + [.stall]
        }
        return .resumable(.pattern(count: length), for: request, entityTag: tag)
    }

    /// Runs until enough bytes have arrived that the server stalls, and then sends a signal.
    private func interrupt(_ url: URL, with signal: Int32 = SIGINT) async throws -> (
        FetchProcess.Result, terminal: String
    ) {
        let terminal = try PseudoTerminal(columns: 80)
        let process = try FetchProcess(["-o", directory.url.path, url.absoluteString], terminal: terminal.child)
        terminal.read()
        #expect(try await terminal.wait(for: " 300 kB "))
        process.send(signal)
        return (try await process.result(), try await terminal.wholeText())
    }

    @Test func `ctrl-C keeps the part, and the same command completes it with a range`() async throws {
        let server = try LoopbackServer { Self.resumableScript($0) }
        let (stopped, terminal) = try await interrupt(server.url("/f"))
        #expect(stopped.code == 130)
        #expect(stopped.errors == "fetch: stopped; run the same command again to resume 1 file\n")
        #expect(terminal.hasSuffix("\u{1B}[?25h"))
        #expect(try directory.names == ["f.partial", "f.partial.validator"])
        #expect(try directory.contents(of: "f.partial") == LoopbackServer.Payload.patternBytes(0..<Self.stop))

        let result = try await FetchProcess.run(["-o", directory.url.path, server.url("/f").absoluteString])
        #expect(result.code == 0)
        #expect(result.output.hasSuffix(", resumed after 300 kB\n"))
        #expect(server.requests.map { $0.headers["Range"] } == [nil, "bytes=\(Self.stop)-"])
        #expect(try directory.names == ["f"])
        #expect(try directory.contents(of: "f") == LoopbackServer.Payload.patternBytes(0..<Self.length))
    }

    @Test func `a stopped demonstration promises nothing, as the next one has another server`() async throws {
        let terminal = try PseudoTerminal(columns: 80)
        let process = try FetchProcess(["-o", directory.url.path], terminal: terminal.child)
        terminal.read()
        #expect(try await terminal.wait(for: " kB/s"))
        process.send(SIGINT)
        let result = try await process.result()
        #expect(result.code == 130 && result.errors == "fetch: stopped\n")
    }

    @Test(arguments: [(SIGTERM, 143), (SIGHUP, 129)] as [(Int32, Int32)])
    func `other signals stop it just so`(signal: Int32, code: Int32) async throws {
        let server = try LoopbackServer { Self.resumableScript($0) }
        let (stopped, _) = try await interrupt(server.url("/f"), with: signal)
        #expect(stopped.code == code)
        #expect(try directory.names == ["f.partial", "f.partial.validator"])
    }

    @Test func `a file that has changed on the server starts over`() async throws {
        let whole = Data("the new file".utf8)
        let isChanged = Lock(false)
        let server = try LoopbackServer { request in
            guard isChanged.withLock({ $0 }) else { return Self.resumableScript(request) }
            return .response(headers: ["ETag": "\"2\""], body: .bytes(whole))
        }
        #expect(try await interrupt(server.url("/f")).0.code == 130)
        isChanged.withLock { $0 = true }
        let result = try await FetchProcess.run(["-o", directory.url.path, server.url("/f").absoluteString])
        #expect(result.code == 0)
        #expect(server.requests.last?.headers["If-Range"] == "\"1\"")
        #expect(try directory.names == ["f"])
        #expect(try directory.contents(of: "f") == whole)
    }

    @Test func `a download that can't be resumed leaves nothing behind`() async throws {
        let server = try LoopbackServer { _ in
            .response(body: .pattern(count: Self.stop), contentLength: Self.length) + [.stall]
        }
        let (stopped, _) = try await interrupt(server.url("/f"))
        #expect(stopped.code == 130)
        #expect(stopped.errors == "fetch: stopped; run the same command again to start over\n")
        #expect(try directory.names == [])
    }

    @Test func `files that are complete when it is stopped stay`() async throws {
        let server = try LoopbackServer { request in
            request.path == "/small" ? .response(body: "small") : Self.resumableScript(request)
        }
        let terminal = try PseudoTerminal(columns: 80)
        let urls = ["/small", "/f"].map { server.url($0).absoluteString }
        let process = try FetchProcess(["-o", directory.url.path, "--max", "1"] + urls, terminal: terminal.child)
        terminal.read()
        #expect(try await terminal.wait(for: " 300 kB "))
        process.send(SIGINT)
        #expect(try await process.result().code == 130)
        #expect(try directory.names == ["f.partial", "f.partial.validator", "small"])
    }

    @Test func `without a terminal Ctrl-C does the same`() async throws {
        let asked = Deferred<Void>()
        let server = try LoopbackServer { _ in
            asked.fill()
            return [.stall]
        }
        let process = try FetchProcess(["-o", directory.url.path, server.url("/f").absoluteString])
        try await asked.get()
        process.send(SIGINT)
        let result = try await process.result()
        #expect(result.code == 130)
        #expect(result.output == "")
        #expect(result.errorLines.count == 1)
        #expect(try directory.names == [])
    }
}
#endif
