#if os(macOS) || os(Linux)
import Deferred
import DeferredTesting
import Foundation
import TestSupport
import Testing

@testable import fetch

/// Runs the lines of the table in the article "fetch beside curl, wget2 and aria2c".
@Suite("fetch: the table beside curl", .ownThread, .timeLimit(.minutes(5)))
struct ComparisonTableTests {
    /// The line of a row, ready to be run, and what came of it.
    private struct Run {
        let result: FetchProcess.Result
        let requests: [LoopbackServer.Request]
        let folder: TemporaryDirectory

        func has(_ name: String, _ text: String) -> Bool {
            (try? Data(contentsOf: folder.file(name))) == Data(text.utf8)
        }
    }

    /// The effect that each row claims, by its first column. A row without an effect fails the test, and so does the reverse.
    private static let effects: [String: @Sendable (Run) -> Bool] = [
        "save a file under its name": { $0.has("file.zip", "abc") },
        "save it under another name": { $0.has("page.html", "/") },
        "save several at once in a directory": { $0.has("files/a", "/a") && $0.has("files/b", "/b") },
        "save those of a list": { $0.has("a", "/a") && $0.has("b", "/b") },
        "go on where it broke off": { run in
            run.has("film.mp4", film) && run.requests.last?.headers["Range"]?.hasPrefix("bytes=") == true
        },
        "print the contents": { $0.result.output == "2\n" },
        "send JSON, and print the answer": { run in
            run.requests.map(\.method) == ["POST"] && run.result.output == "application/json {\"name\": \"Ada\"}"
        },
        "send a form with a file": { run in
            run.result.output.hasPrefix("multipart/form-data; boundary=") && run.result.output.contains("a picture")
        },
        "log in": { run in
            let field = "Basic " + Data("ada:secret".utf8).base64EncodedString()
            return run.has("private.zip", "/private.zip") && run.requests[0].headers["Authorization"] == field
        },
        "leave room on the line": { $0.has("file.zip", "abc") },
        "check the sum": { $0.has("file.zip", "abc") },
        "look at the head": { run in
            run.result.output.hasPrefix("HTTP/1.1 200 OK\n") && run.requests.map(\.method) == ["HEAD"]
        },
    ]

    private static let film = String(repeating: "film", count: 100_000)

    private static func answer(_ request: LoopbackServer.Request) -> LoopbackServer.Script {
        switch request.path {
        case "/film.mp4":
            let script = LoopbackServer.Script.resumable(.text(film), for: request)
            return request.number == 1 ? script.truncated(after: 200_000) : script
        case "/users":
            let type = request.headers["Content-Type"] ?? ""
            return .response(body: .text("\(type) " + String(decoding: request.body, as: UTF8.self)))
        case "/private.zip" where request.headers["Authorization"] == nil: return .response(401)
        case "/file.zip": return .response(body: "abc")
        default: return .response(body: .text(request.path))
        }
    }

    private static func rows() throws -> [(purpose: String, line: String)] {
        let root = URL(filePath: #filePath).deletingLastPathComponent().appending(path: "../../..")
        let article = root.appending(path: "Documentation/Deferred.docc/Articles/FetchBesideCurl.md")
        let lines = try String(contentsOf: article, encoding: .utf8).split(separator: "\n").filter {
            $0.hasPrefix("| ")
        }
        return lines.dropFirst().map { line in
            let cells = line.replacing("\\|", with: "\u{0}").split(separator: "|").map {
                String($0).replacing("\u{0}", with: "|").trimmingCharacters(in: .whitespaces)
            }
            return (cells[0], cells[1].trimmingCharacters(in: ["`"]))
        }
    }

    @Test func `each line does what its row says`() async throws {
        let rows = try Self.rows()
        #expect(rows.count == 12 && Set(rows.map(\.purpose)) == Set(Self.effects.keys))
        for (purpose, line) in rows {
            let (server, folder) = (try LoopbackServer(respond: Self.answer), try TemporaryDirectory())
            defer { server.stop() }
            let urls = ["/a", "/b"].map { server.url($0).absoluteString + "\n" }.joined()
            try Data(urls.utf8).write(to: folder.file("list.txt"))
            try Data("a picture".utf8).write(to: folder.file("photo.jpg"))
            let here = "http://127.0.0.1:\(server.port)"
            let command = line.replacingOccurrences(of: "https://example.com", with: here)
            let programs = try FetchProcess.executable.deletingLastPathComponent().path
            func run(_ command: String) async throws -> FetchProcess.Result {
                let path = "PATH='\(programs)':/usr/bin:/bin; export PATH; \(command)"
                return try await FetchProcess(["-c", path], directory: folder.url, program: "/bin/sh").result()
            }
            if purpose == "go on where it broke off" { #expect(try await run(command + " --retries=0").code == 1) }
            let result = try await run(command)
            #expect(line.hasPrefix("fetch ") && command != line || purpose.contains("list"), "\(line)")
            #expect(result.code == 0 && result.errors == "", "\(line)\n\(result.errors)")
            let effect = Self.effects[purpose]
            let done = Run(result: result, requests: server.requests, folder: folder)
            #expect(effect?(done) == true, "\(line)\n\(result.output)\n\(server.requests)")
        }
    }
}
#endif
