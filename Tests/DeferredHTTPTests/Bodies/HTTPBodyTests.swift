import DeferredHTTP
import DeferredTask
import DeferredTesting
import Foundation
import TestSupport
import Testing

@Suite(.ownThread, .timeLimit(.minutes(5)))
struct HTTPBodyTests {
    private struct User: Codable, Equatable { let name: String }

    /// Sends a body and returns the request as it arrives at a server.
    private func sent(_ body: HTTPBody, headers: HTTPHeaders = [:]) async throws -> LoopbackServer.Request {
        let server = try LoopbackServer { _ in .response(204) }
        defer { server.stop() }
        let request = HTTPRequest(.post, url: server.url("/"), headers: headers, body: body)
        let response = try await URLSessionLoader.underTest().load(request).get()
        #expect(response.status == .noContent)
        return try #require(server.requests.last)
    }

    @Test func `JSON is sent with its type`() async throws {
        let request = try await sent(.json(User(name: "Ada")))
        #expect(try JSONDecoder().decode(User.self, from: request.body) == User(name: "Ada"))
        #expect(request.headers["Content-Type"] == "application/json")
    }

    @Test func `a form is encoded as browsers do`() async throws {
        let request = try await sent(.form(["name": "Ada & Co", "ü": "1+1=2~*"]))
        #expect(String(decoding: request.body, as: UTF8.self) == "name=Ada+%26+Co&%C3%BC=1%2B1%3D2%7E*")
        #expect(request.headers["Content-Type"] == "application/x-www-form-urlencoded")
    }

    @Test func `a type of the request's own takes precedence`() async throws {
        let request = try await sent(.text("hello"), headers: ["content-type": "text/markdown"])
        #expect(request.headers.values(for: "Content-Type") == ["text/markdown"])
        #expect(String(decoding: request.body, as: UTF8.self) == "hello")
    }

    @Test func `a file is sent from disk`() async throws {
        let folder = try TemporaryDirectory()
        try Data("from disk".utf8).write(to: folder.file)
        let request = try await sent(.file(folder.file, contentType: "text/plain"))
        #expect(String(decoding: request.body, as: UTF8.self) == "from disk")
        #expect(request.headers["Content-Length"] == "9")
    }

    @Test func `multipart bodies have fields and files, in order`() async throws {
        let folder = try TemporaryDirectory()
        let content = LoopbackServer.Payload.patternBytes(0..<300_000)
        try content.write(to: folder.file)
        let body = HTTPBody.multipart(
            [
                .init(name: "a\"b\r\n", text: "täxt"),
                .init(name: "photo", file: folder.file, fileName: "x.jpg", contentType: "image/jpeg\r\nX-Evil: 1"),
                .init(name: "raw", data: Data([1, 2]), fileName: "r", contentType: "a/b"),
            ],
            boundary: "edge"
        )
        var expected = Data("--edge\r\nContent-Disposition: form-data; name=\"a%22b%0D%0A\"\r\n\r\ntäxt\r\n".utf8)
        expected += Data("--edge\r\nContent-Disposition: form-data; name=\"photo\"; filename=\"x.jpg\"\r\n".utf8)
        expected += Data("Content-Type: image/jpegX-Evil: 1\r\n\r\n".utf8) + content
        expected += Data("\r\n--edge\r\nContent-Disposition: form-data; name=\"raw\"; filename=\"r\"\r\n".utf8)
        expected += Data("Content-Type: a/b\r\n\r\n\u{1}\u{2}\r\n--edge--\r\n".utf8)
        #expect(body.length == Int64(expected.count))
        let request = try await sent(body)
        #expect(request.body == expected)
        #expect(request.headers["Content-Type"] == "multipart/form-data; boundary=edge")
    }

    @Test func `multipart bodies without files have a length`() async throws {
        let request = try await sent(.multipart([.init(name: "a", text: "1")]))
        #expect(request.headers["Content-Length"] == "\(request.body.count)")
    }

    @Test func `multipart bodies with files have a length, too`() async throws {
        let folder = try TemporaryDirectory()
        try LoopbackServer.Payload.patternBytes(0..<300_000).write(to: folder.file)
        let server = try LoopbackServer { .response(body: .bytes($0.body)) }
        defer { server.stop() }
        let body = HTTPBody.multipart([.init(name: "f", file: folder.file), .init(name: "a", text: "1")])
        for loader in URLSessionLoader.each {
            let task = loader.load(HTTPRequest(.post, url: server.url("/"), body: body))
            let response = try await task.get()
            let sent = try #require(server.requests.last).headers
            #expect(sent["Content-Length"] == "\(try #require(body.length))" && sent["Transfer-Encoding"] == nil)
            #expect(Int64(response.body.count) == body.length && sent["Content-Type"] == body.contentType)
        }
    }

    @Test func `the length of a symbolic link is that of its file, and a folder has none`() async throws {
        let folder = try TemporaryDirectory()
        try LoopbackServer.Payload.patternBytes(0..<10_000).write(to: folder.file)
        let link = folder.url.appending(path: "link")
        try FileManager.default.createSymbolicLink(at: link, withDestinationURL: folder.file)
        let bodies = [folder.file, link].map { file in
            HTTPBody.multipart([.init(name: "f", file: file, fileName: "x", contentType: "a/b")], boundary: "edge")
        }
        let length = try #require(bodies[0].length)
        #expect(length > 10_000 && bodies[1].length == length)
        let request = try await sent(bodies[1])
        #expect(Int64(request.body.count) == length && request.headers["Content-Length"] == "\(length)")
        #expect(HTTPBody.file(folder.url).length == nil)
    }

    @Test func `a body with files can be sent again`() async throws {
        let folder = try TemporaryDirectory()
        try Data("file".utf8).write(to: folder.file)
        let server = try LoopbackServer { .response($0.number == 1 ? 503 : 200, body: .bytes($0.body)) }
        defer { server.stop() }
        let body = HTTPBody.multipart([.init(name: "f", file: folder.file)], boundary: "edge")
        let clock = ImpatientClock()
        let chain = Retry(clock: clock) --> URLSessionLoader.underTest()
        let response = try await chain.load(HTTPRequest(.put, url: server.url("/"), body: body)).get()
        #expect(server.requestCount == 2 && Int64(response.body.count) == body.length)
    }

    #if os(macOS) || os(Linux)
    @Test func `a large file takes little memory`() async throws {
        await #expect(processExitsWith: .success) {
            let folder = try TemporaryDirectory()
            try Data().write(to: folder.file)
            let handle = try FileHandle(forWritingTo: folder.file)
            try handle.truncate(atOffset: 200 << 20)
            try handle.close()
            let server = try LoopbackServer(beforeBody: { _ in
                [.receive(1 << 40), .send("HTTP/1.1 204 No Content\r\n\r\n")]
            }) {
                _ in .response(500)
            }
            let body = HTTPBody.multipart([.init(name: "f", file: folder.file)])
            let before = residentMemory()
            let task = URLSessionLoader.underTest().load(HTTPRequest(.post, url: server.url("/"), body: body)).task
            let response = try await task.get()
            precondition(response.status == 204)
            precondition(isSanitized || residentMemory() - before < 100 << 20)
        }
    }
    #endif
}
