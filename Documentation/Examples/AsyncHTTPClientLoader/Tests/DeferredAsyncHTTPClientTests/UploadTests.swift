import Deferred
import DeferredAsyncHTTPClient
import DeferredTesting
import Foundation
import Testing

@Suite(.timeLimit(.minutes(1)))
struct UploadTests {
    @Test(arguments: [0, 1, 300_000])
    func `a body in memory is sent, with its type and length`(count: Int) async throws {
        let fixture = try Fixture { _ in .response(204) }
        let bytes = LoopbackServer.Payload.patternBytes(0..<count)
        let task = fixture.loader.load(fixture.request(.post, body: .data(bytes, contentType: "image/png"))).task
        let progress = await lastProgress(of: task)
        #expect(progress?.completed == Int64(count) && progress?.fraction == 1)
        let request = try #require(fixture.server.requests.first)
        #expect(request.body == bytes)
        #expect(request.headers["Content-Type"] == "image/png" && request.headers["Content-Length"] == "\(count)")
    }

    @Test func `files are read while they are sent, with progress`() async throws {
        let folder = try TemporaryFolder()
        let file = folder.url.appending(path: "a.bin")
        let bytes = LoopbackServer.Payload.patternBytes(0..<500_000)
        try bytes.write(to: file)
        let fixture = try Fixture { _ in .response(204) }
        let body = HTTPBody.multipart([.init(name: "a", file: file)], boundary: "-")
        let task = fixture.loader.load(fixture.request(.post, body: body)).task
        let progress = await lastProgress(of: task)
        #expect(progress?.completed == body.length && progress?.total == body.length && progress?.fraction == 1)
        let request = try #require(fixture.server.requests.first)
        #expect(request.body.range(of: bytes) != nil && Int64(request.body.count) == body.length)
    }

    @Test(arguments: [nil, 11] as [Int64?])
    func `bytes of an asynchronous sequence are sent as they come`(length: Int64?) async throws {
        let fixture = try Fixture { _ in .response(204) }
        let body = HTTPBody.stream(length: length) {
            AsyncStream { continuation in
                for piece in ["hello", " ", "world"] { continuation.yield(Data(piece.utf8)) }
                continuation.finish()
            }
        }
        _ = try await fixture.loader.load(fixture.request(.put, body: body)).get()
        let request = try #require(fixture.server.requests.first)
        #expect(request.body == Data("hello world".utf8))
        #expect(request.headers["Content-Length"] == length.map { "\($0)" })
    }

    @Test func `a body in memory goes where a redirect leads`() async throws {
        let fixture = try Fixture { request in
            request.path == "/new" ? .response(204) : .redirect(to: "/new", status: 307)
        }
        _ = try await fixture.loader.load(fixture.request(.post, body: .text("hello"))).get()
        #expect(fixture.server.requests.map(\.body) == [Data("hello".utf8), Data("hello".utf8)])
    }

    @Test func `a body that fails is an invalid request, with the cause`() async throws {
        struct Cause: Error {}
        let fixture = try Fixture { _ in .response(204) }
        let body = HTTPBody.stream(AsyncThrowingStream<Data, any Error> { throw Cause() })
        let error = await #expect(throws: HTTPError.self) {
            try await fixture.loader.load(fixture.request(.post, body: body)).get()
        }
        #expect(error?.code == .invalidRequest && error?.underlying is Cause)
    }

    @Test(arguments: [1, 20] as [Int64])
    func `a body of another length than announced is an invalid request`(length: Int64) async throws {
        let fixture = try Fixture { _ in .response(204) }
        let body = HTTPBody.stream(length: length) {
            AsyncStream { continuation in
                continuation.yield(Data("hello".utf8))
                continuation.finish()
            }
        }
        #expect(await failure(of: fixture.loader.load(fixture.request(.post, body: body))) == .invalidRequest)
    }

    @Test func `a request that is cancelled waits for no more bytes of its body`() async throws {
        let fixture = try Fixture(beforeBody: { _ in [.stall] }, respond: { _ in .response(204) })
        let (isWaiting, isOver) = (Deferred<Void>(), Deferred<Void>())
        let bytes = AsyncStream<Data>(unfolding: {
            isWaiting.fill()
            _ = try? await Future<Void>.never.get()
            isOver.fill()
            return nil
        })
        let task = fixture.loader.load(fixture.request(.post, body: .stream(bytes)))
        await isWaiting.value
        task.cancel()
        #expect(await failure(of: task) == .cancelled)
        await isOver.value
        await fixture.server.waitUntilDeserted()
    }
}
