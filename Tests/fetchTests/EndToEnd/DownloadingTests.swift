#if os(macOS) || os(Linux)
import Deferred
import DeferredTesting
import Foundation
import TestSupport
import Testing

@testable import fetch

@Suite("fetch: downloading", .ownThread, .timeLimit(.minutes(5)))
struct DownloadingTests {
    private let directory: TemporaryDirectory

    init() throws {
        directory = try TemporaryDirectory()
    }

    private func fetch(_ arguments: String...) async throws -> FetchProcess.Result {
        try await FetchProcess.run(["--output", directory.url.path] + arguments)
    }

    @Test func `files arrive byte for byte, with a line each and no control characters`() async throws {
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

    @Test(arguments: [1, 3])
    func `as many files at a time as asked for, and no more`(maximum: Int) async throws {
        let gate = Gate(maximum)
        let connections = Log<Int>()
        let counting = Deferred<LoopbackServer>()
        let server = try LoopbackServer { request in
            connections.add(counting.wait()?.openConnectionCount ?? .max)
            // No request is answered before `maximum` of them wait at the same time.
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

    @Test func `equal names become distinct, and a URL without a name is index.html`() async throws {
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
        #expect(names.contains("index.html") && names.contains("_._.._escape"))
        let marked = try names.filter { $0.hasPrefix("x-") }.map {
            String(decoding: try directory.contents(of: $0), as: UTF8.self)
        }
        #expect(Set(marked) == ["/1/x.bin", "/2/x.bin"])
    }

    @Test func `with a cache, a file comes again from there, and its line says so`() async throws {
        let server = try LoopbackServer { request in
            if request.headers["If-None-Match"] != nil { return .response(304, headers: ["ETag": "\"a\""]) }
            let headers: HTTPHeaders =
                request.path == "/a" ? ["Cache-Control": "max-age=9999"] : ["ETag": "\"a\""]
            return .response(headers: headers, body: .pattern(count: 300_000))
        }
        let urls = ["/a", "/b"].map { server.url($0).absoluteString }
        let cache = directory.url.appending(path: "new/cache").path
        for ending in ["", "from the cache"] {
            let result = try await FetchProcess.run(
                ["-o", directory.url.path, "--max=1", "--cache", cache] + urls
            )
            #expect(result.code == 0 && result.errors == "" && result.outputLines.count == 2)
            #expect(result.outputLines.allSatisfy { $0.hasSuffix(ending) })
            #expect(result.output.contains("unchanged") == !ending.isEmpty)
            for name in ["a", "b"] {
                #expect(try directory.contents(of: name) == LoopbackServer.Payload.patternBytes(0..<300_000))
            }
        }
        #expect(server.requests.map(\.path) == ["/a", "/b", "/b"])
        let mode = try FileManager.default.attributesOfItem(atPath: cache)[.posixPermissions] as? Int
        #expect(mode == 0o700)
        try Data().write(to: directory.file("file"))
        let refused = try await fetch("--cache", directory.file("file").path, urls[0])
        #expect(refused.code == 1 && refused.errors.contains("choose another one with --cache"))
    }

    @Test func `redirects are followed`() async throws {
        let server = try LoopbackServer { request in
            request.path == "/old" ? .redirect(to: "/new") : .response(body: "there")
        }
        let result = try await fetch(server.url("/old").absoluteString)
        #expect(result.code == 0)
        #expect(try directory.contents(of: "old") == Data("there".utf8))
    }

    @Test func `URLs come from files and from standard input, with names`() async throws {
        let server = try LoopbackServer { .response(body: .text($0.path)) }
        let list = "# first\r\n\(server.url("/a"))\tone.txt\r\n\r\n\(server.url("/b"))\r\n"
        try Data(list.utf8).write(to: directory.file("list"))
        let input = "\(server.url("/c"))\t../two.txt\n"
        let output = directory.file("files").path
        let result = try await FetchProcess.run(
            ["-o", output, "--input", directory.file("list").path, "-i", "-", server.url("/d").absoluteString],
            input: input
        )
        #expect(result.code == 0)
        #expect(
            try FileManager.default.contentsOfDirectory(atPath: output).sorted() == [".._two.txt", "b", "d", "one.txt"]
        )
        #expect(try directory.contents(of: "files/one.txt") == Data("/a".utf8))
        #expect(try directory.contents(of: "files/.._two.txt") == Data("/c".utf8))
    }

    @Test func `every request has the headers that were asked for`() async throws {
        let server = try LoopbackServer { _ in .response(body: "f") }
        let url = server.url("/f").absoluteString
        let result = try await fetch("-H", "X-One: 1", "--header=Authorization: Bearer a:b", url, url + "2")
        #expect(result.code == 0 && server.requestCount == 2)
        #expect(
            server.requests.allSatisfy { $0.headers["X-One"] == "1" && $0.headers["Authorization"] == "Bearer a:b" }
        )
    }

    @Test(arguments: engines) func `both engines download and resume`(engine: String) async throws {
        let server = try LoopbackServer { request in
            let script = LoopbackServer.Script.resumable(.pattern(count: 200_000), for: request)
            return request.number == 1 ? script.truncated(after: 50_000) : script
        }
        let result = try await fetch("--engine", engine, "--retries=0", server.url("/f").absoluteString)
        #expect(result.code == 1)
        let kept = try directory.contents(of: "f.partial").count
        let again = try await fetch("--engine", engine, server.url("/f").absoluteString)
        #expect(again.code == 0)
        #expect(again.output.hasSuffix(", resumed after \(ProgressText.bytes(Int64(kept)))\n"))
        #expect(server.requests.map { $0.headers["Range"] } == [nil, "bytes=\(kept)-"])
        #expect(try directory.contents(of: "f") == LoopbackServer.Payload.patternBytes(0..<200_000))
    }

    #if os(Linux)
    private static let engines = ["urlsession", "libcurl"]
    #else
    private static let engines = ["urlsession"]
    #endif

    @Test func `quietly, only errors are printed`() async throws {
        let server = try LoopbackServer { $0.path == "/f" ? .response(body: "f") : .response(404) }
        let result = try await fetch("-q", server.url("/f").absoluteString, server.url("/g").absoluteString)
        #expect(result.code == 1)
        #expect(result.output == "")
        #expect(result.errorLines.count == 1)
        #expect(try directory.names == ["f"])
    }

    @Test func `the demonstration downloads its four files, one of them after a break`() async throws {
        // A proxy of the environment has no part in it.
        let refusing = try RefusingPort()
        let proxy = "http://127.0.0.1:\(refusing.number)"
        let process = try FetchProcess(["-o", directory.url.path], environment: ["http_proxy": proxy])
        let result = try await process.result()
        withExtendedLifetime(refusing) {}
        #expect(result.code == 0)
        #expect(result.errors == "")
        #expect(result.outputLines.count == 4)
        for file in Demo.files {
            #expect(try directory.contents(of: file.name) == LoopbackServer.Payload.patternBytes(0..<file.length))
        }
        #expect(try directory.names.count == 4)
    }
}
#endif
