import DeferredNetworking
import DeferredTesting
import Foundation
import TestSupport
import Testing

@Suite("LoopbackServer.Script", .ownThread, .timeLimit(.minutes(5)))
struct LoopbackServerScriptTests {
    typealias Script = LoopbackServer.Script

    /// Returns a client that has sent one GET to a server that plays one script.
    private func client(playing script: Script) throws -> (client: RawClient, server: LoopbackServer) {
        let server = try LoopbackServer { _ in script }
        let client = try RawClient(port: server.port)
        try client.send("GET / HTTP/1.1\r\n\r\n")
        return (client, server)
    }

    @Test(
        arguments: [
            (.response(), "HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n"),
            (.response(500, reason: "Oh", body: "né"), "HTTP/1.1 500 Oh\r\nContent-Length: 3\r\n\r\nné"),
            (.response(headers: ["A": "1", "A": "2"]), "HTTP/1.1 200 OK\r\nA: 1\r\nA: 2\r\nContent-Length: 0\r\n\r\n"),
            (.response(body: "Hi", contentLength: 9), "HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\nHi"),
            (
                .response(headers: ["content-length": "abc"], body: "Hi"),
                "HTTP/1.1 200 OK\r\ncontent-length: abc\r\n\r\nHi"
            ),
            (.response(204), "HTTP/1.1 204 No Content\r\n\r\n"),
            (.response(299, headers: ["A": "b"]), "HTTP/1.1 299 Status\r\nA: b\r\nContent-Length: 0\r\n\r\n"),
            (.redirect(to: "/x y"), "HTTP/1.1 302 Found\r\nLocation: /x y\r\nContent-Length: 0\r\n\r\n"),
            (
                .json("{}", status: 201),
                "HTTP/1.1 201 Created\r\nContent-Type: application/json\r\nContent-Length: 2\r\n\r\n{}"
            ),
            (.untilClose(headers: ["A": "b"], body: "all"), "HTTP/1.1 200 OK\r\nA: b\r\n\r\nall"),
            (
                .chunked(["abc", "", .pattern(count: 16)], trailers: ["T": "t"]),
                "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n3\r\nabc\r\n10\r\n"
                    + String(decoding: Array(0..<16), as: UTF8.self) + "\r\n0\r\nT: t\r\n\r\n"
            ),
            (.raw("\0garbage"), "\0garbage"),
            ([.drip("abcde", size: 2, every: .milliseconds(1))], "abcde"),
            ([.drip("ab", size: 0, every: .zero), .pause(.milliseconds(1)), .send("c")], "abc"),
            ([.send("a"), .close, .send("b")], "a"),
            (.response(body: "Hello").truncated(after: 20), "HTTP/1.1 200 OK\r\nCon"),
            (Script([.drip("abc", every: .zero), .send("def")]).truncated(after: 4) + [.send("g")], "abcd"),
            (.raw("ab").delayed(by: .milliseconds(1)), "ab"),
            (.repeating(.raw("ab"), count: 3), "ababab"),
            (.raw("abc").dripped(2, every: .zero), "abc"),
        ] as [(Script, String)]
    )
    func `scripts send these bytes`(script: Script, expected: String) throws {
        let (client, server) = try client(playing: script + [.close])
        #expect(try client.receiveAll() == expected)
        server.stop()
    }

    @Test func `the examples in the documentation do what they say`() {
        let stalled: LoopbackServer.Script = .response(body: "Hel", contentLength: 5) + [.stall]
        let slow = LoopbackServer.Script.response(body: .pattern(count: 10_000))
            .dripped(100, every: .milliseconds(1))
            .delayed(by: .milliseconds(200))
        let nonsense: LoopbackServer.Script = [.send("HTTP/1.1 abc\r\n"), .pause(.seconds(1)), .reset]
        #expect(stalled.steps.last == .stall)
        #expect(slow.steps.first == .pause(.milliseconds(200)))
        #expect(slow.steps.last == .drip(.pattern(count: 10_000), size: 100, every: .milliseconds(1)))
        #expect(nonsense.steps.count == 3)
        let slowUpload: Script = .repeating([.receive(1_000), .pause(.milliseconds(5))], count: 100)
        #expect(slowUpload.steps.count == 200)
        let headers: HTTPHeaders = ["Set-Cookie": "a=1", "Set-Cookie": "b=2"]
        #expect(headers["set-cookie"] == "a=1")
        #expect(headers.values(for: "set-cookie") == ["a=1", "b=2"])
    }

    @Test func `a response with Connection: close closes the connection`() throws {
        let (client, server) = try client(playing: .response(headers: ["Connection": "close"]))
        #expect(try client.receiveAll().hasSuffix("\r\n\r\n"))
        server.stop()
    }

    @Test func `a drip arrives in pieces, with the waits between them`() throws {
        let clock = ContinuousClock()
        let start = clock.now
        let (client, server) = try client(playing: [.drip("abcdef", size: 2, every: .milliseconds(20)), .close])
        #expect(try client.receiveAll() == "abcdef")
        #expect(start.duration(to: clock.now) >= .milliseconds(40))
        server.stop()
        let (patient, slow) = try self.client(playing: [.drip("abcdef", size: 2, every: .seconds(3_600)), .close])
        #expect(try patient.receive() == Array("ab".utf8))
        slow.stop()
        #expect(patient.receiveUntilError().bytes == [])
    }

    @Test func `a pause takes at least its time`() throws {
        let clock = ContinuousClock()
        let start = clock.now
        let (client, server) = try client(playing: [.pause(.milliseconds(30)), .send("x"), .close])
        #expect(try client.receiveAll() == "x")
        #expect(start.duration(to: clock.now) >= .milliseconds(30))
        server.stop()
    }

    @Test func `a reset arrives as ECONNRESET after everything that was sent`() throws {
        // More than the client's system buffers, so that a premature reset would lose bytes.
        let count = 2_000_000
        let script = Script.response(body: .pattern(count: count), contentLength: 2 * count) + [.reset]
        let expected = LoopbackServer.Payload.patternBytes(0..<count)
        for _ in 0..<5 {
            let (client, server) = try client(playing: script)
            let (bytes, failure) = client.receiveUntilError()
            #expect(failure == RawClient.connectionReset.code)
            let isWhole = Data(bytes.suffix(count)) == expected
            #expect(isWhole)
            server.stop()
        }
    }

    @Test(arguments: [.stall, .pause(.seconds(3_600))] as [Script.Step])
    func `a stall and a pause end when the peer closes`(step: Script.Step) async throws {
        let server = try LoopbackServer { _ in [.send("go"), step] }
        do {
            let client = try RawClient(port: server.port)
            try client.send("GET / HTTP/1.1\r\n\r\n")
            #expect(try client.receive(exactly: 2) == "go")
            #expect(server.openConnectionCount == 1)
        }
        try await eventually { server.openConnectionCount == 0 }
        #expect(server.connectionCount == 1)
    }

    @Test func `a peer that goes away in the middle of a body does not disturb the server`() async throws {
        let server = try LoopbackServer { _ in .response(body: .pattern(count: 1 << 40)) }
        for _ in 0..<10 {
            let client = try RawClient(port: server.port)
            try client.send("GET / HTTP/1.1\r\n\r\n")
            _ = try client.receive(atMost: 1_000)
        }
        try await eventually { server.openConnectionCount == 0 }
        #expect(server.connectionCount == 10)
    }

    @Test func `a generated body of many megabytes is the pattern throughout`() throws {
        let count = 50_000_003
        let (client, server) = try client(playing: .response(body: .pattern(count: count)) + [.close])
        #expect(try client.receiveHead().contains("Content-Length: \(count)\r\n"))
        var offset = 0
        while case let piece = try client.receive(), !piece.isEmpty {
            guard piece == Array(LoopbackServer.Payload.patternBytes(offset..<offset + piece.count)) else {
                Issue.record("The bytes from \(offset) on are wrong.")
                break
            }
            offset += piece.count
        }
        #expect(offset == count)
        server.stop()
    }
}
