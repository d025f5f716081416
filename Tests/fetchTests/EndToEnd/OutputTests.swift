#if os(macOS) || os(Linux)
import Deferred
import DeferredTesting
import Foundation
import TestSupport
import Testing

@testable import fetch

@Suite("fetch: output", .ownThread, .timeLimit(.minutes(5)))
struct OutputTests {
    private let directory: TemporaryDirectory

    init() throws {
        directory = try TemporaryDirectory()
    }

    /// Runs the program in the directory.
    private func fetch(_ arguments: String...) async throws -> FetchProcess.Result {
        try await FetchProcess.run(arguments, directory: directory.url)
    }

    private struct Line: Decodable, Equatable {
        let url: String
        var file: String?
        var status: Int?
        var bytes: Int64 = 0
        var seconds: Double?
        var resumed: Int64 = 0
        var error: String?
    }

    private func lines(_ result: FetchProcess.Result) throws -> [Line] {
        try result.outputLines.map { try JSONDecoder().decode(Line.self, from: Data($0.utf8)) }
    }

    @Test func `with one URL a name that is no directory is the file`() async throws {
        let server = try LoopbackServer { .response(body: .text($0.path)) }
        let url = server.url("/f").absoluteString
        let absolute = directory.file("x.partial").path
        for output in ["page.html", "./page.html", "new/page", absolute, "%41", "a\nb", "~/page"] {
            let result = try await fetch("-o", output, url)
            #expect(result.code == 0 && result.errors == "" && result.outputLines.count == 1)
        }
        #expect(try await fetch("-o", "new", url).code == 0)
        #expect(try await fetch("-o", "other/", url).code == 0)
        #expect(try await fetch("-o", "both", url, url + "2").code == 0)
        let expected = ["%41", "a\nb", "both", "new", "other", "page.html", "x.partial", "~"]
        #expect(try directory.names == expected)
        for (folder, names) in [("new", ["f", "page"]), ("other", ["f"]), ("both", ["f", "f2"]), ("~", ["page"])] {
            let path = directory.file(folder).path
            #expect(try FileManager.default.contentsOfDirectory(atPath: path).sorted() == names)
        }
    }

    @Test func `a file name that is too long is one line`() async throws {
        let server = try LoopbackServer { _ in .response(body: "f") }
        let result = try await fetch("-o", String(repeating: "x", count: 300), server.url("/f").absoluteString)
        #expect(result.code == 1 && result.errorLines.count == 1)
        #expect(result.errors.contains("File name too long"), "\(result.errors)")
        #expect(try directory.names == [])
    }

    @Test func `contents go to standard output byte for byte, and nothing else does`() async throws {
        let server = try LoopbackServer { request in
            request.path == "/f" ? .response(body: .bytes(Data((0...127).map { $0 }))) : .response(404)
        }
        let url = server.url("/f").absoluteString
        let result = try await fetch("-o", "-", url)
        #expect(result.code == 0 && result.errors == "")
        #expect(Data(result.output.utf8) == Data(0...127))
        let withHead = try await fetch("-o-", "--include", url)
        #expect(withHead.output.hasPrefix("HTTP/1.1 200 OK\n") && withHead.output.hasSuffix("\n\n" + result.output))
        let failed = try await fetch("-o-", url + "/g")
        #expect(failed.code == 1 && failed.output == "" && failed.errorLines.count == 1)
        #expect(try directory.names == [])
    }

    #if os(Linux)
    @Test func `contents that can't be printed are an error`() async throws {
        let server = try LoopbackServer { _ in .response(body: .pattern(count: 100_000)) }
        let full = try #require(FileHandle(forWritingAtPath: "/dev/full"))
        let result = try await FetchProcess(["-o-", server.url("/f").absoluteString], terminal: full).result()
        #expect(result.code == 1)
        #expect(
            result.errors.hasSuffix(
                "cannot write to standard output: No space left on device; check the program that "
                    + "reads it\n"
            )
        )
    }

    @Test func `a disk that is full, or a limit of the process, is one line, and the part is kept`() async throws {
        let server = try LoopbackServer { .resumable(.pattern(count: 3_000_000), for: $0) }
        let command = "ulimit -f 1000; exec \"$0\" \"$@\""
        let arguments = ["-c", command, try FetchProcess.executable.path, server.url("/f").absoluteString]
        let result = try await FetchProcess(arguments, directory: directory.url, program: "/bin/sh").result()
        #expect(result.code == 1 && result.errorLines.count == 1, "\(result.code) \(result.errors)")
        #expect(result.errors.contains("File too large"), "\(result.errors)")
        #expect(try directory.names.contains("f") == false)
    }
    #endif

    @Test func `a wrong checksum leaves no file of that name, and the right one does`() async throws {
        let server = try LoopbackServer { _ in .response(body: "abc") }
        let url = server.url("/f").absoluteString
        let zeros = String(repeating: "0", count: 64)
        let sum = "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad"
        let wrong = try await fetch("--checksum", "sha256:\(zeros)", url)
        #expect(wrong.code == 1 && wrong.output == "" && wrong.errorLines.count == 1)
        #expect(wrong.errors.contains(zeros) && wrong.errors.contains(sum))
        #expect(try directory.names == ["f.unverified"])
        let right = try await fetch("--checksum", "sha256:\(sum)", "-o", "g", url)
        #expect(right.code == 0 && right.errors == "")
        #expect(try directory.names == ["f.unverified", "g"] && directory.contents(of: "g") == Data("abc".utf8))
    }

    @Test func `the part of a file with a checksum is resumed`() async throws {
        let sum = "sha256:cdc76e5c9914fb9281a1c7e284d73e67f1809a48a497200e046d39ccc7112cd0"
        let body = LoopbackServer.Payload.bytes(Data(repeating: UInt8(ascii: "a"), count: 1_000_000))
        let server = try LoopbackServer { request in
            let script = LoopbackServer.Script.resumable(body, for: request)
            return request.number == 1 ? script.truncated(after: 500_000) : script
        }
        let url = server.url("/f").absoluteString
        let broken = try await fetch("--retries=0", "--checksum", sum, url)
        #expect(broken.code == 1 && broken.errors.contains("are kept; run the same command again to resume"))
        let kept = try directory.contents(of: "f.unverified.partial").count
        #expect(try await fetch("--checksum", sum, url).code == 0)
        #expect(server.requests.map { $0.headers["Range"] } == [nil, "bytes=\(kept)-"])
        #expect(try directory.names == ["f"])
    }

    @Test func `every file is a line of JSON, whatever its end`() async throws {
        let server = try LoopbackServer { request in
            request.path == "/good" ? .response(body: .pattern(count: 1_234)) : .response(404)
        }
        let list = directory.file("list")
        try Data("ada\u{9B}2J\u{202E}\"\\\n\(server.url("/good"))\ta\"\\b\u{1F600}\n".utf8).write(to: list)
        let secret = "http://ada:secret@127.0.0.1:\(server.port)/missing"
        let result = try await fetch("--json", "-i", "list", "-o", "files", secret)
        #expect(result.code == 1 && result.errorLines.count == 2)
        let lines = try lines(result).sorted { $0.error ?? "" < $1.error ?? "" }
        #expect(lines.count == 3 && lines.map(\.seconds).count == 3)
        #expect(lines[0].file == "files/a\"_b\u{1F600}" && lines[0].status == 200 && lines[0].bytes == 1_234)
        #expect(lines[0].error == nil && lines[0].seconds ?? -1 >= 0)
        #expect(lines[1] == Line(url: "ada\\u{9B}2J\\u{202E}\"\\", error: "it has no scheme"))
        #expect(lines[2].url == "http://…@127.0.0.1:\(server.port)/missing" && lines[2].status == 404)
        #expect(lines[2].error == "the server answered 404 (Not Found)" && lines[2].file == nil)
        #expect(!(result.output + result.errors).contains("secret"))
        let keys = ["\"url\":", "\"file\":", "\"status\":", "\"bytes\":", "\"seconds\":", "\"resumed\":", "\"error\":"]
        #expect(result.outputLines.allSatisfy { line in keys.allSatisfy(line.contains) })
    }

    @Test func `a resumed file says so in JSON`() async throws {
        let server = try LoopbackServer { request in
            let script = LoopbackServer.Script.resumable(.pattern(count: 5_000), for: request)
            return request.number == 1 ? script.truncated(after: 2_000) : script
        }
        let url = server.url("/f").absoluteString
        let broken = try lines(try await fetch("--json", "--retries=0", url))
        let kept = try Int64(directory.contents(of: "f.partial").count)
        #expect(broken.map(\.status) == [200] && broken.map(\.bytes) == [kept] && broken[0].error != nil && kept > 0)
        let whole = try lines(try await fetch("--json", url))
        #expect(whole.map(\.status) == [206] && whole.map(\.bytes) == [5_000] && whole.map(\.resumed) == [kept])
    }

    @Test func `a head is asked for and printed alone`() async throws {
        let server = try LoopbackServer { request in
            request.path == "/f" ? .response(headers: ["X-Odd": "\u{1B}[31m"], body: "f") : .response(404)
        }
        let result = try await fetch("--head", server.url("/f").absoluteString)
        #expect(result.code == 0 && result.errors == "" && server.requests.map(\.method) == ["HEAD"])
        #expect(result.output.hasPrefix("HTTP/1.1 200 OK\n") && result.output.contains("\nContent-Length: 1\n"))
        #expect(!result.output.contains("\u{1B}") && result.output.hasSuffix("\n\n"))
        let missing = try await fetch("-I", server.url("/g").absoluteString)
        #expect(missing.code == 1 && missing.output.hasPrefix("HTTP/1.1 404 Not Found\n"))
        let line = try lines(try await fetch("-I", "--json", server.url("/f").absoluteString))
        #expect(line.map(\.status) == [200] && line.map(\.file) == [nil] && line.map(\.error) == [nil])
        #expect(try directory.names == [])
    }

    @Test func `heads are printed before the lines of their files`() async throws {
        let server = try LoopbackServer { request in
            request.path == "/old" ? .redirect(to: "/f") : .response(headers: ["X-A": "b"], body: "f")
        }
        let result = try await fetch("--include", server.url("/old").absoluteString)
        #expect(result.code == 0 && result.output.hasPrefix("HTTP/1.1 200 OK\n"))
        #expect(result.output.contains("\nX-A: b\n") && result.outputLines.last?.hasPrefix("old  1 B") == true)
    }

    @Test func `verbosely the events and the times go to standard error`() async throws {
        let server = try LoopbackServer { request in
            request.path == "/old" ? .redirect(to: "/f") : .response(body: "f")
        }
        let result = try await fetch("-v", server.url("/old").absoluteString)
        #expect(result.code == 0 && result.outputLines.count == 1)
        #expect(result.errorLines.allSatisfy { $0.hasPrefix("fetch: old: ") })
        for part in ["sent, after ", "redirected by 302 to \"", "response 200, after "] {
            #expect(result.errors.contains(part), "\(result.errors)")
        }
        #if os(Linux)
        for part in ["name lookup ", "connect ", "TLS ", "first byte ", "total ", "HTTP/1.1 over ", "to 127.0.0.1:"] {
            #expect(result.errorLines.last?.contains(part) == true, "\(result.errors)")
        }
        #endif
    }
}
#endif
