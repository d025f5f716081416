#if os(Linux)
import DeferredCore
import DeferredTask
import DeferredTesting
import Foundation
import FoundationNetworking
import TestSupport
import Testing

@testable import DeferredNetworking

/// Tests of what a program that uses the library passes on to the processes that it starts.
@Suite("Inheritance", .ownThread, .timeLimit(.minutes(1)))
struct InheritanceTests {
    private static func received<Value>(_ count: Int64, by task: Task<Value>) -> Future<Void> {
        let hasReceived = Deferred<Void>()
        task.uponProgress(on: .immediate) { if $0.completed >= count { hasReceived.fill() } }
        return hasReceived.future
    }

    @Test func `a child process inherits nothing of requests, downloads, uploads and streams`() async {
        await #expect(processExitsWith: .success) {
            let server = try LoopbackServer(
                beforeBody: { $0.path == "/upload" ? [.receive(100_000), .stall] : nil }
            ) { request in
                let unfinished = LoopbackServer.Script.response(
                    headers: ["ETag": "\"1\""],
                    body: .pattern(count: 100_000),
                    contentLength: 200_000
                )
                return request.path == "/" ? .response(body: "hello") : unfinished + [.stall]
            }
            let folder = try TemporaryDirectory()
            let file = try folder.write(String(repeating: "a", count: 4 << 20), to: "sent")
            let before = try InheritedFiles()
            let client = URLClient.fresh {
                $0.maximumConnectionsPerHost = 10
                $0.streamBufferSize = 1_000
                if isLibcurlTested { $0.streamBufferLimit = .max }
            }
            // Opens a connection that is kept, and looks up a name.
            let named = try #require(URL(string: "http://localhost:\(server.port)/"))
            _ = try await client.begin(named).get()
            let downloads = [true, false].map { isResuming in
                client.download(
                    server.url("/file"),
                    to: folder.url.appending(path: "\(isResuming)"),
                    resuming: isResuming
                )
            }
            let isSpooled = Deferred<Void>()
            let endless = AsyncStream<Data> {
                isSpooled.fill()
                return try? await Future<Data>.never.get()
            }
            let uploads = [
                client.upload(server.url("/upload"), from: .file(file)),
                client.upload(server.url("/upload"), from: .stream { InputStream(data: Data(count: 4 << 20)) }),
                client.upload(server.url("/upload"), from: .file(file, range: 1..<4 << 20)),
                client.upload(server.url("/upload"), from: .stream(endless, spooled: true)),
            ]
            let request = client.begin(server.url("/file"))
            let body = try await client.stream(server.url("/file")).get().body
            await isSpooled.future.value
            await Self.received(100_000, by: request).value
            for download in downloads { await Self.received(100_000, by: download).value }
            try await eventually { body.waitingCount == 100_000 && server.openConnectionCount >= 7 }
            let inherited = try InheritedFiles().added(since: before).filter {
                // What Foundation opens isn't ours.
                isLibcurlTested || !$0.hasPrefix("socket:")
            }
            #expect(inherited == [])
            withExtendedLifetime((uploads, body)) {}
            // What is in flight at the end of the process would count as leaked.
            await client.invalidateAndCancel().value
            server.stop()
        }
    }
}
#endif
