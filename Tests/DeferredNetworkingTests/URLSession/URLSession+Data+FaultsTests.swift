import DeferredCore
import DeferredNetworking
import DeferredTask
import DeferredTesting
import Foundation
import TestSupport
import Testing

#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

extension URLSessionTests {
    @Suite("Faults of servers")
    struct Faults {
        struct Row: Sendable, CustomTestStringConvertible {
            let testDescription: String
            let script: LoopbackServer.Script
            let ending: Ending

            init(_ description: String, _ script: LoopbackServer.Script, _ ending: Ending) {
                testDescription = description
                self.script = script
                self.ending = ending
            }
        }

        private static let head: LoopbackServer.Payload = "HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\n"
        private static let chunkedHead: LoopbackServer.Payload =
            "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n"

        static let rows = [
            Row("reset before the head", [.reset], .url(.networkConnectionLost)),
            Row("reset inside the head", [.send("HTTP/1.1 200 OK\r\nX-"), .reset], .url(.networkConnectionLost)),
            Row("reset after the head", [.send(head), .reset], .url(.networkConnectionLost)),
            Row("reset inside the body", [.send(head), .send("12345"), .reset], .url(.networkConnectionLost)),
            Row("an empty reply", [.close], .url(.networkConnectionLost)),
            Row("a status line of garbage", [.send("garbage\r\n\r\n"), .close], .url(.badServerResponse)),
            Row("a status that is no number", [.send("HTTP/1.1 abc\r\n\r\n"), .close], .url(.badServerResponse)),
            Row("a close inside the status line", [.send("HTTP/1.1 2"), .close], .url(.networkConnectionLost)),
            // Without the length, this crashes the process in Foundation, where no client can prevent it: issue #5285.
            Row(
                "a close inside the head",
                [.send("HTTP/1.1 200 OK\r\nContent-Length: 10\r\nX-"), .close],
                .url(.networkConnectionLost)
            ),
            Row(
                "a body shorter than its length",
                [.send(head), .send("12345"), .close],
                .client(.truncatedBody(received: 5, expected: 10))
            ),
            Row(
                "no body where one is announced",
                [.send(head), .close],
                .client(.truncatedBody(received: 0, expected: 10))
            ),
            Row(
                "a close inside a chunk",
                [.send(chunkedHead), .send("a\r\n12345"), .close],
                .url(.networkConnectionLost)
            ),
            Row(
                "a close between chunks",
                [.send(chunkedHead), .send("5\r\n12345\r\n"), .close],
                .url(.networkConnectionLost)
            ),
            Row("a bad chunk size", [.send(chunkedHead), .send("xyz\r\n12345\r\n"), .close], .url(.badServerResponse)),
            Row(
                "gzip that is none",
                .response(headers: ["Content-Encoding": "gzip"], body: "this is not gzip at all"),
                .url(.badServerResponse)
            ),
            Row(
                "an unknown coding",
                .response(headers: ["Content-Encoding": "rot13"], body: "uryyb"),
                .url(.badServerResponse)
            ),
            Row(
                "a negative length",
                .response(headers: ["Content-Length": "-5"], body: "hello"),
                .url(.badServerResponse)
            ),
        ]

        @Test(arguments: rows)
        func `each fault ends in an error that names it`(row: Row) async throws {
            let server = try LoopbackServer { _ in row.script }
            defer { server.stop() }
            let error = try #require(await URLSession.fresh().beginDataTask(with: server.url("/")).failure())
            #expect(Ending(error) == row.ending)
            if let error = error as? URLError {
                #expect(error.failingURL == server.url("/"))
            }
        }

        @Test(arguments: rows)
        func `a download ends with the same error and leaves no file`(row: Row) async throws {
            let server = try LoopbackServer { _ in row.script }
            defer { server.stop() }
            let folder = try TemporaryDirectory()
            let task = URLSession.fresh().beginDownloadTask(with: server.url("/"), to: folder.file)
            #expect(await task.ending() == row.ending)
            #expect(try folder.contents() == [])
        }

        @Test func `a refused connection says so`() async throws {
            let server = try LoopbackServer { _ in .response(200) }
            let url = server.url("/")
            server.stop()
            let error = await URLSession.fresh().beginDataTask(with: url).failure() as? URLError
            #expect(error?.code == .cannotConnectToHost)
            #expect(error?.failingURL == url)
        }

        @Test(arguments: [
            LoopbackServer.Script([.stall]), [.send(head), .stall], [.send(head), .send("12345"), .stall],
        ])
        func `a server that stalls is given up after the time-out`(script: LoopbackServer.Script) async throws {
            let server = try LoopbackServer { _ in script }
            defer { server.stop() }
            let request = URLRequest(server.url("/")) { $0.timeoutInterval = 1 }
            let error = await URLSession.fresh().beginDataTask(with: request).failure() as? URLError
            #expect(error?.code == .timedOut)
            #expect(error?.failingURL == server.url("/"))
        }

        // Over libcurl, one of `LibcurlActivityTests` does the same by a manual clock.
        @Test(.enabled(if: !isLibcurlTested))
        func `the time-out counts from the last byte`() async throws {
            let drip = LoopbackServer.Script.Step.drip("1234567890", size: 2, every: .milliseconds(300))
            let server = try LoopbackServer { _ in [.send(Self.head), drip] }
            defer { server.stop() }
            let request = URLRequest(server.url("/")) { $0.timeoutInterval = 1 }
            #expect(try await URLSession.fresh().beginDataTask(with: request).text() == "1234567890")
        }

        @Test func `interim responses are not the response`() async throws {
            let server = try LoopbackServer { _ in
                [.send("HTTP/1.1 103 Early Hints\r\nLink: </a>\r\n\r\n")] + .response(body: "final")
            }
            defer { server.stop() }
            let (body, response) = try await URLSession.fresh().beginDataTask(with: server.url("/")).get()
            #expect((response as? HTTPURLResponse)?.statusCode == 200)
            #expect(String(decoding: body, as: UTF8.self) == "final")
        }

        @Test(arguments: [204, 304, 404, 500])
        func `any status is a success`(status: Int) async throws {
            let server = try LoopbackServer { _ in .response(status) }
            defer { server.stop() }
            #expect(await URLSession.fresh().beginDataTask(with: server.url("/")).ending() == .status(status))
        }

        @Test func `a body without a length ends with the connection`() async throws {
            let server = try LoopbackServer { _ in .untilClose(body: .pattern(count: 100_000)) }
            defer { server.stop() }
            let (body, _) = try await URLSession.fresh().beginDataTask(with: server.url("/")).get()
            let isSame = body == LoopbackServer.Payload.patternBytes(0..<100_000)
            #expect(isSame)
        }
    }
}
