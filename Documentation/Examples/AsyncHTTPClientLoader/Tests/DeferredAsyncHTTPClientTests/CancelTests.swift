import Deferred
import DeferredAsyncHTTPClient
import DeferredTesting
import Foundation
import Testing

@Suite(.timeLimit(.minutes(1)))
struct CancelTests {
    @Test func `a task that was cancelled before is not sent`() async throws {
        let fixture = try Fixture { _ in .response(204) }
        let task = HTTPTask(fixture.request())
        task.cancel()
        fixture.loader.load(task)
        #expect(await failure(of: task) == .cancelled)
        #expect(fixture.server.connectionCount == 0)
    }

    @Test(
        arguments: [
            [.stall],
            .response(body: "hello", contentLength: 10) + [.stall],
        ] as [LoopbackServer.Script]
    )
    func `cancelling ends the task, and the transfer`(script: LoopbackServer.Script) async throws {
        let fixture = try Fixture { _ in script }
        let task = fixture.loader.load(fixture.request())
        while fixture.server.requests.isEmpty { await Task.yield() }
        task.cancel()
        #expect(await failure(of: task) == .cancelled)
        await fixture.server.waitUntilDeserted()
    }

    @Test func `a download that is cancelled leaves nothing behind`() async throws {
        let folder = try TemporaryFolder()
        let fixture = try Fixture { _ in .response(body: "hello", contentLength: 10) + [.stall] }
        var request = fixture.request()
        request.delivery = .file(folder.url.appending(path: "a.bin"))
        let task = fixture.loader.load(request)
        while folder.contents.isEmpty { await Task.yield() }
        task.cancel()
        #expect(await failure(of: task) == .cancelled)
        await fixture.server.waitUntilDeserted()
        #expect(folder.contents == [])
    }

    @Test func `cancelling the Swift task that waits cancels the request`() async throws {
        let fixture = try Fixture { _ in [.stall] }
        let (loader, request) = (fixture.loader, fixture.request())
        let waiting = Task { try await loader.load(request).get() }
        while fixture.server.requests.isEmpty { await Task.yield() }
        waiting.cancel()
        let error = await #expect(throws: HTTPError.self) { try await waiting.value }
        #expect(error?.code == .cancelled)
        await fixture.server.waitUntilDeserted()
    }
}
