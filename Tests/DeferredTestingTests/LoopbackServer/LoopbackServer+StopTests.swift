import DeferredCore
import DeferredTesting
import Dispatch
import TestSupport
import Testing

@Suite("LoopbackServer, stopping", .ownThread, .timeLimit(.minutes(5)))
struct LoopbackServerStopTests {
    @Test(
        arguments: [
            [.send("go"), .stall],
            [.send("go"), .pause(.seconds(3_600))],
            [.send("go"), .drip("never", every: .seconds(3_600))],
            [.send("go"), .send(.pattern(count: 1 << 40))],
            [.send("go")],
        ] as [LoopbackServer.Script]
    )
    func `stopping ends waits of every kind and closes the connections`(script: LoopbackServer.Script) throws {
        let server = try LoopbackServer { _ in script }
        let clients = try (0..<4).map { _ in try RawClient(port: server.port) }
        for client in clients {
            try client.send("GET / HTTP/1.1\r\n\r\n")
            #expect(try client.receive(exactly: 2) == "go")
        }
        #expect(server.openConnectionCount == 4)
        server.stop()
        #expect(server.openConnectionCount == 0)
        for client in clients { #expect(client.receiveUntilError().failure != RawClient.timedOut) }
        #expect(throws: RawClient.connectionRefused) { try RawClient(port: server.port) }
    }

    @Test func `stopping ends connections in the middle of a request`() throws {
        let server = try LoopbackServer { _ in [] }
        let idle = try RawClient(port: server.port)
        let head = try RawClient(port: server.port)
        try head.send("GET / HT")
        let upload = try RawClient(port: server.port)
        try upload.send("POST / HTTP/1.1\r\nExpect: 100-continue\r\nContent-Length: 9\r\n\r\n")
        #expect(try upload.receiveHead() == "HTTP/1.1 100 Continue\r\n")
        server.stop()
        #expect(server.openConnectionCount == 0)
        for client in [idle, head, upload] { #expect(client.receiveUntilError().failure != RawClient.timedOut) }
    }

    @Test func `stopping again, from several threads at once, does no harm`() throws {
        let server = try LoopbackServer { _ in [.stall] }
        let client = try RawClient(port: server.port)
        try client.send("GET / HTTP/1.1\r\n\r\n")
        DispatchQueue.concurrentPerform(iterations: 8) { _ in
            server.stop()
            #expect(server.openConnectionCount == 0)
        }
        #expect(client.receiveUntilError().failure != RawClient.timedOut)
    }

    @Test func `the closure can stop the server without waiting for itself`() throws {
        let holder = Lock<LoopbackServer?>(nil)
        let server = try LoopbackServer { _ in
            holder.withLock { $0 }?.stop()
            return .raw("stopped")
        }
        holder.withLock { $0 = server }
        let client = try RawClient(port: server.port)
        try client.send("GET / HTTP/1.1\r\n\r\n")
        _ = client.receiveUntilError()
        server.stop()
        holder.withLock { $0 = nil }
        #expect(server.requestCount == 1)
        #expect(throws: RawClient.connectionRefused) { try RawClient(port: server.port) }
    }

    @Test func `releasing the server stops it, and releases the captures of its closures`() throws {
        final class Token: Sendable {}
        weak var token: Token?
        var port: UInt16 = 0
        do {
            let strong = Token()
            token = strong
            let server = try LoopbackServer { _ in withExtendedLifetime(strong) { [.send("go"), .stall] } }
            port = server.port
            let client = try RawClient(port: port)
            try client.send("GET / HTTP/1.1\r\n\r\n")
            #expect(try client.receive(exactly: 2) == "go")
            #expect(token != nil)
        }
        #expect(token == nil)
        #expect(throws: RawClient.connectionRefused) { try RawClient(port: port) }
    }

    @Test func `a stopped server's port can be taken at once`() throws {
        let first = try LoopbackServer { _ in .raw("1") + [.close] }
        let client = try RawClient(port: first.port)
        try client.send("GET / HTTP/1.1\r\n\r\n")
        #expect(try client.receiveAll() == "1")
        first.stop()
        let second = try LoopbackServer(port: first.port) { _ in .raw("2") + [.close] }
        let next = try RawClient(port: second.port)
        try next.send("GET / HTTP/1.1\r\n\r\n")
        #expect(try next.receiveAll() == "2")
    }
}
