import DeferredNetworking
import DeferredTesting
import Foundation
import TestSupport
import Testing

@Suite("LoopbackServer, before the body", .ownThread, .timeLimit(.minutes(5)))
struct LoopbackServerBeforeBodyTests {
    /// Starts a server that plays a script before the body of a request; a request for `/next` is answered as usual.
    private func server(playing script: LoopbackServer.Script) throws -> LoopbackServer {
        try LoopbackServer(beforeBody: { $0.path == "/next" ? nil : script }, respond: { _ in .raw("next") + [.close] })
    }

    @Test func `an early answer arrives before the body is sent, which is then thrown away`() throws {
        let server = try server(playing: .raw("early"))
        let client = try RawClient(port: server.port)
        try client.send("PUT / HTTP/1.1\r\nContent-Length: 1000000\r\n\r\n")
        #expect(try client.receive(exactly: 5) == "early")
        try client.send([UInt8](repeating: 0, count: 1_000_000))
        try client.send("GET /next HTTP/1.1\r\n\r\n")
        #expect(try client.receiveAll() == "next")
        #expect(server.requests.map(\.body.count) == [0, 0])
    }

    @Test func `an early answer that closes arrives although the upload continues`() throws {
        let server = try server(playing: .response(413, headers: ["Connection": "close"]))
        let client = try RawClient(port: server.port)
        try client.send("PUT / HTTP/1.1\r\nContent-Length: 1000000\r\n\r\n")
        try client.send([UInt8](repeating: 0, count: 1_000_000))
        #expect(try client.receiveAll().hasPrefix("HTTP/1.1 413 Content Too Large\r\n"))
    }

    @Test func `an answer instead of 100 Continue ends the connection`() throws {
        let server = try server(playing: .raw("no"))
        let client = try RawClient(port: server.port)
        try client.send("PUT / HTTP/1.1\r\nExpect: 100-continue\r\nContent-Length: 9\r\n\r\n")
        #expect(try client.receiveAll() == "no")
    }

    @Test func `a script can read a part of the body and then reset the connection`() throws {
        let server = try server(playing: [.receive(4), .send("got 4"), .reset])
        let client = try RawClient(port: server.port)
        try client.send("PUT / HTTP/1.1\r\nExpect: 100-continue\r\nContent-Length: 9\r\n\r\n")
        #expect(try client.receive(exactly: 25) == "HTTP/1.1 100 Continue\r\n\r\n")
        try client.send("abc")
        try client.send("d")
        #expect(try client.receive(exactly: 5) == "got 4")
        #expect(throws: RawClient.connectionReset) { try client.receive() }
    }

    @Test func `a script can read the body slowly, to its end and no further`() throws {
        let server = try server(playing: .repeating([.receive(3), .send("."), .pause(.milliseconds(1))], count: 5))
        let client = try RawClient(port: server.port)
        try client.send(
            "PUT / HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\n8\r\n01234567\r\n0\r\n\r\nGET /next HTTP/1.1\r\n\r\n"
        )
        #expect(try client.receiveAll() == ".....next")
    }

    @Test func `a body is sent back as it arrives, and its trailer fields after it`() throws {
        let server = try server(playing: .echo(headers: ["A": "b"]))
        let client = try RawClient(port: server.port)
        try client.send("PUT / HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\n")
        let head = "HTTP/1.1 200 OK\r\nA: b\r\nTransfer-Encoding: chunked\r\n\r\n"
        #expect(try client.receive(exactly: head.utf8.count) == head)
        for _ in 0..<3 {
            try client.send("10\r\n0123456789abcdef\r\n")
            #expect(try client.receive(exactly: 22) == "10\r\n0123456789abcdef\r\n")
        }
        try client.send("0\r\nT: t\r\n\r\nHEAD / HTTP/1.1\r\n\r\nGET /next HTTP/1.1\r\n\r\n")
        #expect(try client.receiveAll() == "0\r\nT: t\r\n\r\n\(head)next")
    }

    @Test(
        arguments: [
            (.echo(), "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n2\r\nab\r\n"), (.raw("early"), "early"),
            ([.send("a"), .receive(3)], "a"), ([.echo], "2\r\nab\r\n"),
        ] as [(LoopbackServer.Script, String)]
    )
    func `a malformed body behind the beginning of an answer ends the connection, without another answer`(
        script: LoopbackServer.Script,
        answer: String
    ) throws {
        let server = try server(playing: script)
        let client = try RawClient(port: server.port)
        try client.send("PUT / HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\n2\r\nab\r\nx\r\n")
        #expect(try client.receiveAll() == answer)
    }

    @Test func `a malformed body before the beginning of an answer is refused`() throws {
        let server = try server(playing: [.receive(3), .send("late")])
        let client = try RawClient(port: server.port)
        try client.send("PUT / HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\n2\r\nab\r\nx\r\n")
        #expect(try client.receiveAll().hasPrefix("HTTP/1.1 400 "))
    }

    @Test func `a stall brings an upload to a halt`() throws {
        let server = try server(playing: [.send("go"), .stall])
        let client = try RawClient(port: server.port, sendTimeout: .milliseconds(200))
        try client.send("PUT / HTTP/1.1\r\nContent-Length: 1000000000\r\n\r\n")
        #expect(try client.receive(exactly: 2) == "go")
        #expect(throws: RawClient.Failure(code: RawClient.timedOut)) {
            try client.send([UInt8](repeating: 0, count: 100_000_000))
        }
        #expect(server.openConnectionCount == 1)
    }
}
