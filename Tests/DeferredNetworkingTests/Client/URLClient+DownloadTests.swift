import DeferredCore
import DeferredTask
import DeferredTesting
import Foundation
import TestSupport
import Testing

@testable import DeferredNetworking

#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

extension URLClientTests {
    @Suite("Downloading")
    struct Download {
        @Test func `a file arrives whole`() async throws {
            let server = try LoopbackServer { _ in .response(body: .pattern(count: 300_000)) }
            defer { server.stop() }
            let folder = try TemporaryDirectory()
            let client = URLClient.fresh { $0.maximumBodySize = 10 }
            let (file, response) = try await client.download(URLRequest(url: server.url("/")), to: folder.file).get()
            #expect(response.status == 200)
            let isSame = try Data(contentsOf: file) == LoopbackServer.Payload.patternBytes(0..<300_000)
            #expect(isSame)
            #expect(try folder.contents() == ["file"])
        }

        @Test func `the next attempt resumes where the last one ended`() async throws {
            let source = try TemporaryDirectory()
            try LoopbackServer.Payload.patternBytes(0..<100_000).write(to: source.file)
            let server = try LoopbackServer { request in
                let script = LoopbackServer.Script.file(source.file, for: request)
                return request.number == 1 ? script.truncated(after: 50_000) : script
            }
            defer { server.stop() }
            let folder = try TemporaryDirectory()
            let client = URLClient.fresh {
                $0.retries = URLClient.Retries()
                $0.retries.clock = NotingClock()
            }
            let download = client.download(URLRequest(url: server.url("/")), to: folder.file)
            let snapshots = Log<ProgressSnapshot>()
            download.uponProgress(on: .immediate) { snapshots.add($0) }
            let (file, response) = try await download.get()
            #expect(response.status == 206)
            // What the first attempt brought was not there before.
            try await eventually { snapshots.entries.last?.completed == 100_000 }
            #expect(snapshots.entries.allSatisfy { $0.resumed == 0 })
            let isSame = try Data(contentsOf: file) == LoopbackServer.Payload.patternBytes(0..<100_000)
            #expect(isSame)
            #expect(try folder.contents() == ["file"])
        }

        @Test func `a response that is followed by another attempt takes no file's place`() async throws {
            let server = try LoopbackServer { $0.number == 1 ? .response(202, body: "not yet") : .response(410) }
            defer { server.stop() }
            let folder = try TemporaryDirectory()
            try Data("old".utf8).write(to: folder.file)
            let client = URLClient.fresh {
                $0.retries.attempts = 2
                $0.retries.base = .zero
                $0.retries.statuses.insert(202)
            }
            let error = await client.download(URLRequest(url: server.url("/")), to: folder.file).failure()
            #expect((error as? URLClientError)?.code == .unacceptableStatus(code: 410, body: Data()))
            #expect(try Data(contentsOf: folder.file) == Data("old".utf8) && folder.contents() == ["file"])
        }

        @Test func `its progress reports how much was resumed`() async throws {
            let source = try TemporaryDirectory()
            try LoopbackServer.Payload.patternBytes(0..<100_000).write(to: source.file)
            let server = try LoopbackServer { request in
                let script = LoopbackServer.Script.file(source.file, for: request)
                return request.number == 1 ? script.truncated(after: 50_000) : script
            }
            defer { server.stop() }
            let folder = try TemporaryDirectory()
            let client = URLClient.fresh()
            _ = await client.download(server.url("/"), to: folder.file).ending()
            let path = folder.file.path + ".partial"
            let size = try #require(try FileManager.default.attributesOfItem(atPath: path)[.size] as? Int)
            let download = client.download(server.url("/"), to: folder.file)
            let snapshots = Log<ProgressSnapshot>()
            download.uponProgress(on: .immediate) { snapshots.add($0) }
            _ = try await download.get()
            try await eventually { snapshots.entries.last?.fraction == 1 }
            let last = try #require(snapshots.entries.last)
            #expect(size > 0 && (last.completed, last.resumed) == (100_000, Int64(size)))
        }

        @Test func `a file that changed meanwhile is begun again`() async throws {
            let server = try LoopbackServer { request in
                let script = LoopbackServer.Script.response(
                    headers: ["ETag": "\"\(request.number)\""],
                    body: .pattern(count: 100_000)
                )
                return request.number == 1 ? script.truncated(after: 50_000) : script
            }
            defer { server.stop() }
            let folder = try TemporaryDirectory()
            let client = URLClient.fresh {
                $0.retries = URLClient.Retries()
                $0.retries.clock = NotingClock()
            }
            let (file, response) = try await client.download(URLRequest(url: server.url("/")), to: folder.file).get()
            #expect(response.status == 200)
            #expect(server.requests.last?.headers["If-Range"] == "\"1\"")
            let isSame = try Data(contentsOf: file) == LoopbackServer.Payload.patternBytes(0..<100_000)
            #expect(isSame)
        }

        @Test func `the rest of a file with another validator is never spliced on`() async throws {
            let server = try LoopbackServer { request in
                guard request.headers["Range"] != nil else {
                    let script = LoopbackServer.Script.response(
                        headers: ["ETag": "\"\(request.number)\""],
                        body: .pattern(count: 100_000)
                    )
                    return request.number == 1 ? script.truncated(after: 50_000) : script
                }
                // This server ignores If-Range.
                let start = Int(request.headers["Range"]?.dropFirst(6).dropLast() ?? "") ?? 0
                return .response(
                    206,
                    headers: ["ETag": "\"2\"", "Content-Range": "bytes \(start)-99999/100000"],
                    body: .bytes(Data(count: 100_000 - start))
                )
            }
            defer { server.stop() }
            let folder = try TemporaryDirectory()
            let client = URLClient.fresh {
                $0.retries = URLClient.Retries()
                $0.retries.clock = NotingClock()
            }
            let (file, response) = try await client.download(URLRequest(url: server.url("/")), to: folder.file).get()
            #expect(response.status == 200)
            let isSame = try Data(contentsOf: file) == LoopbackServer.Payload.patternBytes(0..<100_000)
            #expect(isSame)
        }

        @Test func `any number that waits for a place and fails at once needs no deep stack`() async throws {
            let server = try LoopbackServer { _ in [.stall] }
            defer { server.stop() }
            let folder = try TemporaryDirectory()
            let client = URLClient.fresh { $0.maximumRequestsInFlight = 1 }
            let first = client.begin(server.url("/"))
            let missing = folder.url.appending(path: "missing/file")
            let downloads = (0..<5_000).map { _ in client.download(server.url("/"), to: missing) }
            await onThread(stackSize: 512 << 10) { first.cancel() }
            #expect(downloads.allSatisfy { $0.peek() != nil })
        }

        @Test func `a part of one URL is not continued with another`() async throws {
            let server = try LoopbackServer { request in
                let body = LoopbackServer.Payload.bytes(Data(repeating: request.path == "/a" ? 1 : 2, count: 50_000))
                let script = LoopbackServer.Script.response(headers: ["ETag": "\"same\""], body: body)
                return request.path == "/a" ? script.truncated(after: 20_000) : script
            }
            defer { server.stop() }
            let folder = try TemporaryDirectory()
            let client = URLClient.fresh()
            _ = await client.download(URLRequest(url: server.url("/a")), to: folder.file).ending()
            #expect(try folder.contents().contains("file.partial"))
            #expect(await client.download(URLRequest(url: server.url("/b")), to: folder.file).ending() == .status(200))
            #expect(server.requests.last?.headers["Range"] == nil)
            #expect(try Data(contentsOf: folder.file) == Data(repeating: 2, count: 50_000))
        }

        @Test func `a refusal without end is read up to 64 KiB`() async throws {
            let server = try LoopbackServer { _ in
                // At a pace that leaves the client time to end the transfer, where it can't hold the server up.
                .response(401, body: .pattern(count: 1 << 40)).dripped(16 << 10, every: .milliseconds(2))
            }
            defer { server.stop() }
            let folder = try TemporaryDirectory()
            let request = URLRequest(url: server.url("/"))
            let ending = Ending.client(
                .unacceptableStatus(code: 401, body: LoopbackServer.Payload.patternBytes(0..<65_536))
            )
            #expect(await URLClient.fresh().download(request, to: folder.file).ending() == ending)
            #expect(await URLSession.fresh().beginDownloadTask(with: request, to: folder.file).ending() == ending)
            #expect(try folder.contents() == [])
        }

        @Test func `one that is cancelled leaves its file to the next, though the engine still has it`() async throws {
            let server = try LoopbackServer { request in
                request.number == 1 ? .response(body: "12345", contentLength: 10) + [.stall] : .response(body: "hello")
            }
            defer { server.stop() }
            let folder = try TemporaryDirectory()
            let client = URLClient.fresh()
            let (url, file) = (server.url("/"), folder.file)
            let (first, second) = (Deferred<Task<(URL, ResponseHead)>>(), Deferred<Task<(URL, ResponseHead)>>())
            var options = URLClient.RequestOptions()
            options.monitor = { event in
                // On the thread that has the receiver, and closes the file only afterwards.
                guard case .response = event.kind, let first = first.wait() else { return }
                first.cancel()
                second.fill(with: client.download(url, to: file))
            }
            first.fill(with: client.download(url, to: file, options: options))
            #expect(await second.value.ending() == .status(200))
            #expect(try String(contentsOf: file, encoding: .utf8) == "hello")
            #expect(try folder.contents() == ["file"])
        }

        @Test(arguments: [true, false])
        func `a deadline leaves a part only where that can be resumed`(isResuming: Bool) async throws {
            let server = try LoopbackServer { _ in
                .response(headers: ["ETag": "\"1\""], body: .pattern(count: 50_000), contentLength: 60_000) + [.stall]
            }
            defer { server.stop() }
            let folder = try TemporaryDirectory()
            let clock = ManualClock()
            let client = URLClient.fresh {
                $0.deadlines.idle = .seconds(2)
                $0.deadlineClock = clock
            }
            let task = client.download(URLRequest(url: server.url("/")), to: folder.file, resuming: isResuming)
            // All that comes: what came after the clock's advance would be an activity.
            try await eventually { task.progress.fractionCompleted > 0.833 }
            clock.advance(by: .seconds(2))
            #expect(await task.ending() == .url(.timedOut))
            #expect(try folder.contents() == (isResuming ? ["file.partial", "file.partial.validator"] : []))
        }

        @Test func `a credential is found for a download too`() async throws {
            let server = try LoopbackServer { request in
                request.headers["Authorization"] == nil
                    ? .response(401, headers: ["WWW-Authenticate": "Basic realm=\"r\""], body: "denied")
                    : .response(body: "hello")
            }
            defer { server.stop() }
            let folder = try TemporaryDirectory()
            let client = URLClient.fresh { $0.authentication = .basic(user: "me", password: "secret") }
            #expect(await client.download(URLRequest(url: server.url("/")), to: folder.file).ending() == .status(200))
            #expect(try String(contentsOf: folder.file, encoding: .utf8) == "hello")
        }
    }
}
