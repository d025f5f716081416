import Deferred
import DeferredTesting
import Foundation
import Testing

@testable import Services

@Suite(.timeLimit(.minutes(1)))
struct WebDAVTests {
    private let server = HTTPEnvironment(scheme: "http", host: "files.example")

    /// The answers of lighttpd 1.4.69 to `RECORD=Tests/ServicesTests/Recordings/webdav.json swift run RunServices`.
    private let recording = URL(filePath: #filePath).deletingLastPathComponent()
        .appending(path: "Recordings/webdav.json")

    @Test func `a recorded server`() async throws {
        let stub = try StubLoader(replaying: recording)
        let files = WebDAV(server, over: stub)
        try await files.createFolder("/notes/")
        try await files.createFolder("/notes/")
        let path = "/notes/a & b.txt"
        let first = try #require(try await files.put(.text("first"), at: path, if: .isAbsent))
        let second = try #require(try await files.put(.text("second"), at: path, if: .hasTag(first)))
        for condition in [WebDAV.Condition.isAbsent, .hasTag(first)] {
            await #expect(throws: WebDAV.Conflict.self) {
                try await files.put(.text("third"), at: path, if: condition)
            }
        }
        let (bytes, tag) = try await files.get(path)
        #expect(bytes == Data("second".utf8) && tag == second)
        try await files.move(path, to: "/notes/ä.txt")
        try await files.createFolder("/notes/old/")
        let items = try await files.list("/notes/").sorted { $0.path < $1.path }
        #expect(items.map(\.path) == ["/notes/old/", "/notes/ä.txt"])
        #expect(items.map(\.isFolder) == [true, false])
        #expect(items.last?.tag != nil && items.last?.length == 6)
        for _ in 0..<2 { try await files.remove("/notes/") }

        #expect(stub.requests.compactMap { $0.headers["If-Match"] } == [first, first])
        #expect(stub.requests.compactMap { $0.headers["Destination"] } == ["/notes/%C3%A4.txt"])
    }

    @Test func `hrefs may be URLs, and prefixes any`() async throws {
        let text = """
            <?xml version="1.0"?>
            <x:multistatus xmlns:x="DAV:">
              <x:response><x:href>http://files.example/dav/a/</x:href></x:response>
              <x:response>
                <x:href>http://files.example/dav/a/b%20c/</x:href>
                <x:propstat>
                  <x:prop><x:resourcetype><x:collection/></x:resourcetype><x:getetag/></x:prop>
                </x:propstat>
              </x:response>
            </x:multistatus>
            """
        var server = server
        server.pathPrefix = "/dav"
        let files = WebDAV(server, over: StubLoader(.response(207, body: text)))
        let items = try await files.list("/a/")
        #expect(items.map(\.path) == ["/dav/a/b c/"] && items[0].isFolder && items[0].tag == nil)
        let broken = WebDAV(server, over: StubLoader(.response(207, body: String(text.dropLast(10)))))
        await #expect(throws: URLError.self) { try await broken.list("/a/") }
    }

    @Test func `a request with a condition is sent once`() async throws {
        let stub = StubLoader(.response(503, headers: ["Retry-After": "0"]))
        let files = WebDAV(server, over: stub)
        await #expect(throws: HTTPError.self) { try await files.put(.text("a"), at: "/a", if: .isAbsent) }
        await #expect(throws: HTTPError.self) { try await files.move("/a", to: "/b") }
        #expect(stub.requests.count == 2)
        await #expect(throws: HTTPError.self) { try await files.put(.text("a"), at: "/a") }
        #expect(stub.requests.count == 5)
    }

    @Test func `a folder that is removed in part is an error`() async throws {
        let files = WebDAV(server, over: StubLoader(.response(207, body: "<multistatus/>")))
        await #expect(throws: WebDAV.Incomplete.self) { try await files.remove("/a/") }
    }
}
