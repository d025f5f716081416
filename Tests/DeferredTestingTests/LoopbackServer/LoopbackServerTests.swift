import DeferredTesting
import Foundation
import TestSupport
import Testing

@Suite("LoopbackServer", .ownThread, .timeLimit(.minutes(5)))
struct LoopbackServerTests {
    @Test func `the example in the documentation works`() throws {
        let server = try LoopbackServer { request in
            switch request.path {
            case "/hello": .response(body: "Hello")
            case "/slow": .response(body: "Hello").dripped(every: .milliseconds(10))
            case "/broken": .response(body: "Hello", contentLength: 100) + [.reset]
            default: .response(404)
            }
        }
        let client = try RawClient(port: server.port)
        try client.send("GET /hello HTTP/1.1\r\n\r\n")
        #expect(try client.receive(exactly: 43) == "HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nHello")
        try client.send("GET /nothing HTTP/1.1\r\nConnection: close\r\n\r\n")
        #expect(try client.receiveAll() == "HTTP/1.1 404 Not Found\r\nContent-Length: 0\r\n\r\n")
    }

    @Test func `a URL holds the port, the path and the query`() throws {
        let server = try LoopbackServer { _ in [] }
        #expect(server.port > 0)
        #expect(server.url().absoluteString == "http://127.0.0.1:\(server.port)/")
        #expect(server.url("a/b?c=d").absoluteString == "http://127.0.0.1:\(server.port)/a/b?c=d")
        #expect(server.url("/two words").absoluteString == "http://127.0.0.1:\(server.port)/two%20words")
    }

    @Test func `a taken port is an error that names the port and the system's error`() throws {
        let first = try LoopbackServer { _ in [] }
        let error = try #require(throws: LoopbackServer.StartError.self) {
            _ = try LoopbackServer(port: first.port) { _ in [] }
        }
        #expect(error.code == RawClient.addressInUse)
        #expect("\(error)".contains("port \(first.port): Address already in use"))
    }

    @Test func `several requests come on one connection, in order, each with its number`() throws {
        let server = try LoopbackServer { .response(body: "\($0.number) on \($0.connectionNumber)") }
        let client = try RawClient(port: server.port)
        for number in 1...3 {
            try client.send("GET / HTTP/1.1\r\n\r\n")
            #expect(try client.receiveHead().hasPrefix("HTTP/1.1 200 OK"))
            #expect(try client.receive(exactly: 6) == "\(number) on 1")
        }
        #expect(server.connectionCount == 1)
        #expect(server.openConnectionCount == 1)
        #expect(server.requestCount == 3)
    }

    @Test func `requests sent in one go are answered in order`() throws {
        let server = try LoopbackServer { .raw(.text("<\($0.path)>")) }
        let client = try RawClient(port: server.port)
        try client.send(
            "GET /a HTTP/1.1\r\n\r\nPOST /b HTTP/1.1\r\nContent-Length: 4\r\n\r\nGET GET /c HTTP/1.1\r\n\r\n"
        )
        client.finishSending()
        #expect(try client.receiveAll() == "</a></b></c>")
    }

    @Test(arguments: [
        ("HTTP/1.1\r\n", true),
        ("HTTP/1.1\r\nConnection: close\r\n", false),
        ("HTTP/1.1\r\nconnection: x, CLOSE\r\n", false),
        ("HTTP/1.0\r\n", false),
        ("HTTP/1.0\r\nConnection: keep-alive\r\n", true),
    ])
    func `the connection is kept or closed as the version and the Connection field say`(rest: String, isKept: Bool)
        throws
    {
        let server = try LoopbackServer { _ in .raw("x") }
        let client = try RawClient(port: server.port)
        try client.send("GET / \(rest)\r\nGET / \(rest)\r\n")
        client.finishSending()
        #expect(try client.receiveAll() == (isKept ? "xx" : "x"))
        #expect(server.openConnectionCount == 0)
    }

    @Test func `500 connections one after the other are served and counted`() throws {
        let server = try LoopbackServer(requestLogLimit: 11) { _ in .response(body: "x") + [.close] }
        for _ in 0..<500 {
            let client = try RawClient(port: server.port)
            try client.send("GET / HTTP/1.1\r\n\r\n")
            #expect(try client.receiveAll().hasSuffix("\r\n\r\nx"))
        }
        #expect(server.connectionCount == 500)
        #expect(server.requestCount == 500)
        #expect(server.openConnectionCount == 0)
        #expect(server.requests.map(\.number) == Array(490...500))
    }

    @Test func `with a log limit of 0 requests are counted and not kept`() throws {
        let server = try LoopbackServer(requestLogLimit: 0) { _ in .raw("x") + [.close] }
        let client = try RawClient(port: server.port)
        try client.send("GET / HTTP/1.1\r\n\r\n")
        #expect(try client.receiveAll() == "x")
        #expect(server.requestCount == 1)
        #expect(server.requests.isEmpty)
    }

    @Test func `64 connections are open and served at the same time`() throws {
        let server = try LoopbackServer { .response(body: .text($0.path)) }
        let clients = try (0..<64).map { _ in try RawClient(port: server.port) }
        for (index, client) in clients.enumerated() { try client.send("GET /\(index) HTTP/1.1\r\n\r\n") }
        for (index, client) in clients.enumerated() {
            _ = try client.receiveHead()
            #expect(try client.receive(exactly: "/\(index)".count) == "/\(index)")
        }
        #expect(server.openConnectionCount == 64)
        #expect(server.connectionCount == 64)
    }

    @Test func `64 threads get whole bodies at the same time`() async throws {
        let server = try LoopbackServer { _ in .response(body: .pattern(count: 300_000)) + [.close] }
        try await withThrowingTaskGroup(of: Bool.self) { group in
            for _ in 0..<64 {
                group.addTask {
                    let client = try RawClient(port: server.port)
                    try client.send("GET / HTTP/1.1\r\n\r\n")
                    _ = try client.receiveHead()
                    return try client.receiveAllBytes() == Array(LoopbackServer.Payload.patternBytes(0..<300_000))
                }
            }
            for try await isWhole in group { #expect(isWhole) }
        }
    }
}
