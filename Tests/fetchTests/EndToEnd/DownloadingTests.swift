#if os(macOS) || os(Linux)
import Deferred
import DeferredTesting
import Foundation
import TestSupport
import Testing

@Suite("fetch: downloading", .ownThread, .timeLimit(.minutes(5)))
struct DownloadingTests {
    private let directory: TemporaryDirectory

    init() throws {
        directory = try TemporaryDirectory()
    }

    private func fetch(_ arguments: String...) async throws -> FetchProcess.Result {
        try await FetchProcess.run(["--output", directory.url.path] + arguments)
    }

    @Test("Files arrive byte for byte, with a line each and no control characters")
    func success() async throws {
        let server = try LoopbackServer { request in
            request.path == "/empty"
                ? .response() : .response(body: .pattern(count: request.path == "/a" ? 3_000_000 : 17))
        }
        let urls = ["/a", "/b", "/empty"].map { server.url($0).absoluteString }
        let result = try await FetchProcess.run(["--output", directory.url.path + "/new/below"] + urls)
        #expect(result.code == 0)
        #expect(result.errors == "")
        #expect(result.outputLines.count == 3)
        #expect(!result.output.contains { $0 != "\n" && ($0.isASCII ? $0 < " " : false) })
        #expect(try directory.contents(of: "new/below/a") == LoopbackServer.Payload.patternBytes(0..<3_000_000))
        #expect(try directory.contents(of: "new/below/b") == LoopbackServer.Payload.patternBytes(0..<17))
        #expect(try directory.contents(of: "new/below/empty") == Data())
        #expect(try FileManager.default.contentsOfDirectory(atPath: directory.file("new/below").path).count == 3)
    }

    @Test("As many files at a time as asked for, and no more", arguments: [1, 3])
    func parallel(maximum: Int) async throws {
        let gate = Gate(maximum)
        let connections = Log<Int>()
        let counting = Deferred<LoopbackServer>()
        let server = try LoopbackServer { request in
            connections.add(counting.wait()?.openConnectionCount ?? .max)
            // Nobody gets an answer before so many ask at the same time.
            gate.pass()
            return .response(body: .pattern(count: 1_000))
        }
        // The server is retained by its own closure until it stops.
        defer { server.stop() }
        counting.fill(with: server)
        let urls = (1...6).map { server.url("/\($0)").absoluteString }
        let result = try await FetchProcess.run(["-o", directory.url.path, "--max", "\(maximum)"] + urls)
        #expect(result.code == 0)
        #expect(connections.entries.count == 6)
        #expect(connections.entries.max() == maximum)
        #expect(try directory.names == (1...6).map(String.init))
    }

    @Test("Equal names become distinct, and a URL without a name is index.html")
    func names() async throws {
        let server = try LoopbackServer { .response(body: .text($0.target)) }
        let result = try await fetch(
            server.url("/1/x.bin").absoluteString,
            server.url("/2/x.bin").absoluteString,
            server.url("/..%2f..%2fescape").absoluteString,
            "\(server.url("/"))"
        )
        #expect(result.code == 0)
        let names = try directory.names
        #expect(names.count == 4)
        #expect(names.contains("index.html") && names.contains(".._.._escape"))
        let marked = try names.filter { $0.hasPrefix("x-") }.map {
            String(decoding: try directory.contents(of: $0), as: UTF8.self)
        }
        #expect(Set(marked) == ["/1/x.bin", "/2/x.bin"])
    }

    @Test("Redirects are followed")
    func redirects() async throws {
        let server = try LoopbackServer { request in
            request.path == "/old" ? .redirect(to: "/new") : .response(body: "there")
        }
        let result = try await fetch(server.url("/old").absoluteString)
        #expect(result.code == 0)
        #expect(try directory.contents(of: "old") == Data("there".utf8))
    }

    @Test("The demonstration downloads its four files, one of them after a break")
    func demonstration() async throws {
        let result = try await fetch()
        #expect(result.code == 0)
        #expect(result.errors == "")
        #expect(result.outputLines.count == 4)
        for file in DemoLengths.all {
            #expect(try directory.contents(of: file.name) == LoopbackServer.Payload.patternBytes(0..<file.length))
        }
        #expect(try directory.names.count == 4)
    }
}
#endif
