import DeferredNetworking
import DeferredTesting
import Foundation
import TestSupport
import Testing

@Suite("LoopbackServer.Request", .ownThread, .timeLimit(.minutes(5)))
struct LoopbackServerRequestTests {
    /// Sends bytes to a server that answers every request with `ok` and returns everything received.
    private func exchange(_ text: String) throws -> (answer: String, requests: [LoopbackServer.Request]) {
        let server = try LoopbackServer { _ in .raw("ok") }
        let client = try RawClient(port: server.port)
        try client.send(text)
        client.finishSending()
        return (try client.receiveAll(), server.requests)
    }

    @Test func `a request shows its line, its fields and its exact bytes`() throws {
        let head = "PATCH /a%20b/c?x=1&y=%26&z&x=2 HTTP/1.1\r\nHost: h\r\nX-A:1 \r\nx-a:  2\r\n\r\n"
        let (answer, requests) = try exchange(head)
        #expect(answer == "ok")
        let request = try #require(requests.first)
        #expect(request.method == "PATCH")
        #expect(request.target == "/a%20b/c?x=1&y=%26&z&x=2")
        #expect(request.path == "/a b/c")
        #expect(request.version == "HTTP/1.1")
        #expect(request.queryItems.map(\.name) == ["x", "y", "z", "x"])
        #expect(request.queryItems.map(\.value) == ["1", "&", nil, "2"])
        #expect(request.query("x") == "1")
        #expect(request.headers["HOST"] == "h")
        #expect(request.headers["Missing"] == nil)
        #expect(request.headers.values(for: "X-a") == ["1", "2"])
        #expect(request.headers.fields.map(\.name) == ["Host", "X-A", "x-a"])
        #expect(request.head == Data(head.utf8))
        #expect(request.body.isEmpty)
        #expect((request.number, request.connectionNumber) == (1, 1))
    }

    @Test(arguments: [
        ("/a?b/c", "/a"), ("http://host:1/a/b?c", "/a/b"), ("http://host", "/"), ("*", "*"), ("/%zz", "/%zz"),
        ("/a?u=http://h/x", "/a"),
    ])
    func `the path comes from any form of target`(target: String, path: String) throws {
        #expect(try exchange("GET \(target) HTTP/1.1\r\n\r\n").requests.first?.path == path)
    }

    @Test(arguments: [
        ("Content-Length: 5\r\n\r\nhello", "hello"),
        ("Content-Length: 0\r\n\r\n", ""),
        ("Content-Length: 5\r\nContent-Length: 5\r\n\r\nhello", "hello"),
        (
            "Transfer-Encoding: chunked\r\n\r\n5;x=y\r\nhello\r\nA\r\n0123456789\r\n0\r\nT: t\r\n\r\n",
            "hello0123456789"
        ),
        ("Transfer-Encoding: Chunked\r\n\r\n0\r\n\r\n", ""),
    ])
    func `bodies are read as they are framed, and the next request follows`(rest: String, body: String) throws {
        let (answer, requests) = try exchange("POST / HTTP/1.1\r\n\(rest)GET /next HTTP/1.1\r\n\r\n")
        #expect(answer == "okok")
        #expect(requests.map(\.path) == ["/", "/next"])
        #expect(requests.first?.body == Data(body.utf8))
    }

    @Test func `the trailer fields of a request are read`() throws {
        let (_, requests) = try exchange("POST / HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\n0\r\nA: 1\r\na:\r\n\r\n")
        #expect(requests.first?.trailers == ["A": "1", "a": ""])
        let (refusal, _) = try exchange("POST / HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\n0\r\nA\r\n\r\n")
        #expect(refusal.hasPrefix("HTTP/1.1 400 "))
    }

    @Test(arguments: [true, false])
    func `a large body arrives whole`(isChunked: Bool) throws {
        let body = [UInt8](LoopbackServer.Payload.patternBytes(0..<3_000_000))
        let server = try LoopbackServer { .raw(.text("\($0.body == Data(body))")) + [.close] }
        let client = try RawClient(port: server.port)
        if isChunked {
            try client.send("POST / HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\n")
            for start in stride(from: 0, to: body.count, by: 100_000) {
                try client.send("\(String(100_000, radix: 16))\r\n")
                try client.send(Array(body[start..<start + 100_000]) + Array("\r\n".utf8))
            }
            try client.send("0\r\n\r\n")
        } else {
            try client.send("POST / HTTP/1.1\r\nContent-Length: \(body.count)\r\n\r\n")
            try client.send(body)
        }
        #expect(try client.receiveAll() == "true")
    }

    @Test func `a client that expects 100 Continue gets it once, before the body is read`() throws {
        let server = try LoopbackServer { .response(body: .bytes($0.body)) }
        let client = try RawClient(port: server.port)
        for _ in 0..<2 {
            try client.send("PUT / HTTP/1.1\r\nExpect: 100-continue\r\nContent-Length: 2\r\n\r\n")
            #expect(try client.receive(exactly: 25) == "HTTP/1.1 100 Continue\r\n\r\n")
            try client.send("hi")
            #expect(try client.receive(exactly: 40) == "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nhi")
        }
    }

    @Test(arguments: [
        ("GET /\r\n\r\n", 400),
        ("GET  / HTTP/1.1\r\n\r\n", 400),
        ("GET / HTTP/2.0\r\n\r\n", 505),
        ("GET / HTTP/1.1\r\nno colon\r\n\r\n", 400),
        ("GET / HTTP/1.1\r\n: x\r\n\r\n", 400),
        ("GET / HTTP/1.1\r\nA : x\r\n\r\n", 400),
        ("GET / HTTP/1.1\r\nA: x\r\n folded: y\r\n\r\n", 400),
        ("GET / HTTP/1.1\r\nContent-Length: -1\r\n\r\n", 400),
        ("GET / HTTP/1.1\r\nContent-Length: 1\r\nContent-Length: 2\r\n\r\n", 400),
        ("GET / HTTP/1.1\r\nContent-Length: 99999999999999999999\r\n\r\n", 400),
        ("GET / HTTP/1.1\r\nContent-Length: 1\r\nTransfer-Encoding: chunked\r\n\r\n", 400),
        ("GET / HTTP/1.1\r\nTransfer-Encoding: gzip, chunked\r\n\r\n", 501),
        ("GET / HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\n-5\r\n", 400),
        ("GET / HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\n\r\n", 400),
        ("GET / HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\n1\r\nabc\r\n", 400),
        ("GET / HTTP/1.1\r\nA: " + String(repeating: "x", count: 65_536) + "\r\n\r\n", 431),
        (String(repeating: "A: x\r\n", count: 20_000), 431),
    ])
    func `malformed requests are answered with an error and the connection is closed`(text: String, status: Int) throws
    {
        let server = try LoopbackServer { _ in .raw("ok") }
        let client = try RawClient(port: server.port)
        try client.send(text)
        let answer = try client.receiveAll()
        #expect(answer.hasPrefix("HTTP/1.1 \(status) "))
        #expect(answer.contains("\r\nConnection: close\r\n"))
    }

    @Test(arguments: [
        ("", 431, "The head is larger than 64 KiB."),
        (
            "GET / HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\n1;", 400,
            "A line between the chunks, or after them, is larger than 8 KiB."
        ),
    ])
    func `a refusal of a long line says which limit it exceeds`(start: String, status: Int, text: String) throws {
        let server = try LoopbackServer { _ in .raw("ok") }
        let client = try RawClient(port: server.port)
        try client.send(start + String(repeating: "x", count: 65_536) + "\r\n\r\n")
        let answer = try client.receiveAll()
        #expect(answer.hasPrefix("HTTP/1.1 \(status) ") && answer.hasSuffix("\r\n\r\n\(text)\n"))
    }

    @Test func `a head of almost 64 KiB, empty lines before it and bare line feeds are fine`() throws {
        let value = String(repeating: "x", count: 65_000)
        let (answer, requests) = try exchange("\r\n\r\nGET / HTTP/1.1\nA: \(value)\n\n")
        #expect(answer == "ok")
        #expect(requests.first?.headers["A"] == value)
    }

    @Test func `an upload that its client aborts is recorded with the bytes that arrived`() throws {
        let (answer, requests) = try exchange("PUT / HTTP/1.1\r\nContent-Length: 9\r\n\r\nhalf")
        #expect(answer == "")
        #expect(requests.map(\.body) == [Data("half".utf8)])
    }
}
