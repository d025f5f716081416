import DeferredTesting
import Foundation
import TestSupport
import Testing

@Suite("LoopbackServer, serving files", .ownThread, .timeLimit(.minutes(5)))
struct LoopbackServerFilesTests {
    private let directory: TemporaryDirectory
    private let server: LoopbackServer

    init() throws {
        directory = try TemporaryDirectory()
        let root = directory.url.appendingPathComponent("root")
        try directory.write("0123456789", to: "root/ten")
        try directory.write("", to: "root/empty")
        try directory.write("deep", to: "root/a b/ü.txt")
        try directory.write("secret", to: "secret")
        let date = Date(timeIntervalSince1970: 784_111_777)
        try FileManager.default.setAttributes([.modificationDate: date], ofItemAtPath: root.path + "/ten")
        try FileManager.default.createSymbolicLink(
            at: root.appendingPathComponent("link"),
            withDestinationURL: directory.url.appendingPathComponent("secret")
        )
        server = try LoopbackServer(servingFilesAt: root)
    }

    /// Returns the status, the header fields and the body of the answer to one request.
    private func get(
        _ path: String,
        method: String = "GET",
        _ fields: [String] = []
    ) throws -> (status: Int?, head: String, body: String) {
        let client = try RawClient(port: server.port)
        let lines = ["\(method) \(path) HTTP/1.1", "Connection: close"] + fields
        try client.send(lines.map { $0 + "\r\n" }.joined() + "\r\n")
        let head = try client.receiveHead()
        return (head.split(separator: " ").dropFirst().first.flatMap { Int($0) }, head, try client.receiveAll())
    }

    @Test func `a file comes whole, with length, entity tag, date and the offer of ranges`() throws {
        let (status, head, body) = try get("/ten")
        #expect(status == 200)
        #expect(body == "0123456789")
        #expect(head.contains("\r\nContent-Length: 10\r\n"))
        #expect(head.contains("\r\nLast-Modified: Sun, 06 Nov 1994 08:49:37 GMT\r\n"))
        #expect(head.contains("\r\nAccept-Ranges: bytes\r\n"))
        #expect(head.contains("\r\nETag: \""))
        #expect(!head.contains("Content-Range"))
    }

    @Test(arguments: ["/ten", "/empty", "/missing"])
    func `HEAD has the same head and no body`(path: String) throws {
        let (whole, head) = (try get(path), try get(path, method: "HEAD", ["Range: bytes=1-2"]))
        #expect(head.head == whole.head)
        #expect(head.body == "")
    }

    @Test func `other methods are refused with the allowed ones`() throws {
        let (status, head, _) = try get("/ten", method: "DELETE")
        #expect(status == 405)
        #expect(head.contains("\r\nAllow: GET, HEAD\r\n"))
    }

    @Test(
        arguments: [
            ("bytes=0-0", 206, "0-0/10", "0"),
            ("bytes=2-5", 206, "2-5/10", "2345"),
            ("bytes=8-99", 206, "8-9/10", "89"),
            ("bytes=0-9", 206, "0-9/10", "0123456789"),
            ("bytes=7-", 206, "7-9/10", "789"),
            ("bytes=-3", 206, "7-9/10", "789"),
            ("bytes=-99", 206, "0-9/10", "0123456789"),
            ("bytes=9-99999999999999999999", 206, "9-9/10", "9"),
            ("Bytes= 1-2 ", 206, "1-2/10", "12"),
            ("bytes=10-", 416, "*/10", ""),
            ("bytes=10-20", 416, "*/10", ""),
            ("bytes=99999999999999999999-", 416, "*/10", ""),
            ("bytes=-0", 416, "*/10", ""),
            ("bytes=5-2", 200, nil, "0123456789"),
            ("bytes=-", 200, nil, "0123456789"),
            ("bytes=a-b", 200, nil, "0123456789"),
            ("bytes=+1-2", 200, nil, "0123456789"),
            ("bytes=1-2,4-5", 200, nil, "0123456789"),
            ("lines=1-2", 200, nil, "0123456789"),
            ("bytes", 200, nil, "0123456789"),
        ] as [(String, Int, String?, String)]
    )
    func `ranges of ten bytes`(range: String, status: Int, contentRange: String?, body: String) throws {
        let answer = try get("/ten", ["Range: \(range)"])
        #expect(answer.status == status)
        #expect(answer.body == body)
        #expect(answer.head.contains("\r\nContent-Length: \(body.count)\r\n"))
        if let contentRange {
            #expect(answer.head.contains("\r\nContent-Range: bytes \(contentRange)\r\n"))
        } else {
            #expect(!answer.head.contains("Content-Range"))
        }
    }

    @Test(arguments: ["bytes=0-", "bytes=0-0", "bytes=-5"])
    func `no range of an empty file can be satisfied`(range: String) throws {
        let (status, head, _) = try get("/empty", ["Range: \(range)"])
        #expect(status == 416)
        #expect(head.contains("\r\nContent-Range: bytes */0\r\n"))
        #expect(try get("/empty").status == 200)
    }

    @Test func `if-Range lets a range through only with the exact validator`() throws {
        let head = try get("/ten").head
        let line = try #require(head.split(separator: "\r\n").first { $0.hasPrefix("ETag: ") })
        let tag = line.dropFirst(6)
        for validator in [String(tag), "Sun, 06 Nov 1994 08:49:37 GMT"] {
            #expect(try get("/ten", ["Range: bytes=1-2", "If-Range: \(validator)"]).body == "12")
        }
        for validator in ["\"other\"", "W/\(tag)", "Sun, 06 Nov 1994 08:49:38 GMT"] {
            let answer = try get("/ten", ["Range: bytes=1-2", "If-Range: \(validator)"])
            #expect((answer.status, answer.body) == (200, "0123456789"))
        }
    }

    @Test func `a payload is served with ranges as a file is`() throws {
        let server = try LoopbackServer { request in
            let body = request.path == "/text" ? "0123456789" : LoopbackServer.Payload.pattern(count: 10)
            return .resumable(body, for: request, entityTag: "\"a\"")
        }
        defer { server.stop() }
        func get(_ path: String, method: String = "GET", _ fields: [String] = []) throws -> (head: String, body: String)
        {
            let client = try RawClient(port: server.port)
            let lines = ["\(method) \(path) HTTP/1.1", "Connection: close"] + fields
            try client.send(lines.map { $0 + "\r\n" }.joined() + "\r\n")
            return (try client.receiveHead(), try client.receiveAll())
        }
        let whole = try get("/text")
        #expect(whole.head.contains(" 200 ") && whole.head.contains("ETag: \"a\"") && whole.body == "0123456789")
        let part = try get("/text", ["Range: bytes=7-", "If-Range: \"a\""])
        #expect(part.head.contains(" 206 ") && part.head.contains("Content-Range: bytes 7-9/10") && part.body == "789")
        #expect(try get("/pattern", ["Range: bytes=7-8"]).body == "\u{7}\u{8}")
        #expect(try get("/text", ["Range: bytes=7-", "If-Range: \"b\""]).body == "0123456789")
        #expect(try get("/text", ["Range: bytes=10-"]).head.contains("Content-Range: bytes */10"))
        #expect(try get("/text", method: "HEAD").body == "")
        #expect(try get("/text", method: "POST").head.contains(" 405 "))
    }

    @Test func `the entity tag changes with the file`() throws {
        let before = try get("/ten").head
        #expect(try get("/ten").head == before)
        try directory.write("9876543210", to: "root/ten")
        #expect(try get("/ten").head != before)
    }

    @Test(arguments: ["/a%20b/%C3%BC.txt", "//a%20b//%c3%bc.txt?x=y", "/a%20b%2F%C3%BC.txt"])
    func `names are percent-decoded`(path: String) throws {
        #expect(try get(path).body == "deep")
    }

    @Test(arguments: [
        "/missing", "/", "/a%20b", "/../secret", "/a%20b/../../secret", "/%2e%2e/secret", "/%2E%2E%2Fsecret",
        "/..%2fsecret", "/link", "/ten%00", "/ten/x", "//etc/passwd", "*",
    ])
    func `paths that are missing, no files, or outside the directory are not found`(path: String) throws {
        let (status, _, body) = try get(path)
        #expect(status == 404)
        #expect(body == "")
    }

    @Test func `a large file is streamed whole`() throws {
        let bytes = LoopbackServer.Payload.patternBytes(0..<5_000_000)
        try bytes.write(to: directory.url.appendingPathComponent("root/large"))
        let client = try RawClient(port: server.port)
        try client.send("GET /large HTTP/1.1\r\nRange: bytes=1000-\r\nConnection: close\r\n\r\n")
        #expect(try client.receiveHead().contains("\r\nContent-Range: bytes 1000-4999999/5000000\r\n"))
        #expect(try client.receiveAllBytes() == Array(bytes[1_000...]))
    }
}
