import Deferred
import DeferredAsyncHTTPClient
import DeferredTesting
import Foundation
import Testing

@Suite(.timeLimit(.minutes(1)))
struct ResponseTests {
    @Test func `a request and its response arrive as they are`() async throws {
        let fixture = try Fixture { _ in
            .response(404, headers: ["X-Tag": "one", "X-Tag": "two"], body: "hello")
        }
        var request = fixture.request(.init(rawValue: "PURGE"), "/a%20b?c=d")
        request.headers = ["X-First": "1", "X-Second": "2"]
        let response = try await fixture.loader.load(request).get()

        #expect(response.status == .notFound && response.text == "hello")
        #expect(response.headers.values(for: "x-tag") == ["one", "two"])
        #expect(response.url == fixture.server.url("/a%20b?c=d"))
        let received = try #require(fixture.server.requests.first)
        #expect(received.method == "PURGE" && received.target == "/a%20b?c=d")
        #expect(received.headers["X-First"] == "1" && received.headers["X-Second"] == "2")
    }

    @Test func `a redirect is followed, and the response names where it came from`() async throws {
        let fixture = try Fixture { request in
            request.path == "/new" ? .response(body: "here") : .redirect(to: "/new")
        }
        let response = try await fixture.loader.load(fixture.request()).get()
        #expect(response.text == "here" && response.url?.path == "/new")
    }

    @Test func `a body of many pieces is gathered, with progress`() async throws {
        let fixture = try Fixture { _ in .response(body: .pattern(count: 3_000_000)) }
        let task = fixture.loader.load(fixture.request()).task
        let progress = await lastProgress(of: task)
        #expect(progress?.completed == 3_000_000 && progress?.total == 3_000_000 && progress?.fraction == 1)
        #expect(try await task.value.body == LoopbackServer.Payload.patternBytes(0..<3_000_000))
    }

    @Test func `a chain works around it`() async throws {
        let fixture = try Fixture { request in
            request.number == 1 ? .response(503, headers: ["Retry-After": "0"]) : .response(body: "second")
        }
        let client = fixture.client
        let chain =
            Retry() --> Throttle(maximum: 256)
            --> AsyncHTTPClientLoader(client: client)
        #expect(try await chain.load(fixture.request()).get().text == "second")
    }

    @Test func `a file takes the place of another when it is whole`() async throws {
        let folder = try TemporaryFolder()
        let file = folder.url.appending(path: "a.bin")
        try Data("old".utf8).write(to: file)
        let fixture = try Fixture { _ in .response(body: .pattern(count: 1_000_000)) }
        var request = fixture.request()
        request.delivery = .file(file)
        let response = try await fixture.loader.load(request).get()

        #expect(response.file == file && response.body.isEmpty)
        #expect(try Data(contentsOf: file) == LoopbackServer.Payload.patternBytes(0..<1_000_000))
        #expect(folder.contents == ["a.bin"])
    }

    @Test func `a file that is cut short leaves all as it was`() async throws {
        let folder = try TemporaryFolder()
        let file = folder.url.appending(path: "a.bin")
        try Data("old".utf8).write(to: file)
        let fixture = try Fixture { _ in .response(body: .pattern(count: 1_000_000)).truncated(after: 500_000) }
        var request = fixture.request()
        request.delivery = .file(file)

        #expect(await failure(of: fixture.loader.load(request)) == .connectionLost)
        #expect(try Data(contentsOf: file) == Data("old".utf8))
        #expect(folder.contents == ["a.bin"])
    }

    @Test func `a file takes the bodies of successes only`() async throws {
        let folder = try TemporaryFolder()
        let fixture = try Fixture { _ in .response(500, body: .pattern(count: 1_000_000)) }
        var request = fixture.request()
        request.delivery = .file(folder.url.appending(path: "a.bin"))
        let response = try await fixture.loader.load(request).get()

        #expect(response.status == 500 && response.file == nil)
        #expect(response.body == LoopbackServer.Payload.patternBytes(0..<(64 << 10)))
        #expect(folder.contents == [])
    }
}
