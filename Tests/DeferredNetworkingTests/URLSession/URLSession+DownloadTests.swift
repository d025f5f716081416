import DeferredCore
import DeferredNetworking
import DeferredTask
import DeferredTesting
import Foundation
import TestSupport
import Testing

#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

extension URLSessionTests {
    @Suite("Downloads")
    struct Downloads {
        private static let big = LoopbackServer.Payload.patternBytes(0..<5_000_000)

        private func read(_ file: URL) -> Data? { try? Data(contentsOf: file) }

        @Test func `the file has the bytes of the body, and no other file is next to it`() async throws {
            let server = try LoopbackServer { _ in .response(body: .pattern(count: 5_000_000)) }
            defer { server.stop() }
            let folder = try TemporaryDirectory()
            let task = URLSession.fresh().beginDownloadTask(with: server.url("/"), to: folder.file)
            let (file, response) = try await task.get()
            #expect(file == folder.file)
            #expect((response as? HTTPURLResponse)?.statusCode == 200)
            let isSame = read(file) == Self.big
            #expect(isSame)
            #expect(try folder.contents() == ["file"])
            #expect(task.progress.fractionCompleted == 1)
        }

        @Test func `an empty body makes an empty file`() async throws {
            let server = try LoopbackServer { _ in .response(body: "") }
            defer { server.stop() }
            let folder = try TemporaryDirectory()
            _ = try await URLSession.fresh().beginDownloadTask(with: server.url("/"), to: folder.file).get()
            #expect(read(folder.file) == Data())
        }

        @Test func `a file at the destination is replaced in one step at the end`() async throws {
            let old = Data("old".utf8)
            let new = LoopbackServer.Payload.patternBytes(0..<4_000)
            let isSeen = Deferred<Void>()
            let server = try LoopbackServer { _ in
                isSeen.wait()
                return .response(body: .pattern(count: 4_000)).dripped(100, every: .milliseconds(1))
            }
            defer {
                isSeen.fill()
                server.stop()
            }
            let folder = try TemporaryDirectory()
            try old.write(to: folder.file)
            let task = URLSession.fresh().beginDownloadTask(with: server.url("/"), to: folder.file)
            var seen: [Data?] = []
            try await eventually {
                let isFilled = task.isFilled
                let content = read(folder.file)
                if seen.last != content { seen.append(content) }
                isSeen.fill()
                return isFilled
            }
            #expect(seen == [old, new])
            #expect(try folder.contents() == ["file"])
        }

        @Test func `an error status makes no file, and gives the body`() async throws {
            let server = try LoopbackServer { _ in .response(404, body: "no such file") }
            defer { server.stop() }
            let folder = try TemporaryDirectory()
            let task = URLSession.fresh().beginDownloadTask(with: server.url("/"), to: folder.file)
            let error = URLClientError.unacceptableStatus(code: 404, body: Data("no such file".utf8))
            #expect(await task.ending() == .client(error))
            #expect(try folder.contents() == [])
        }

        @Test func `a failed download leaves the existing file`() async throws {
            let server = try LoopbackServer { _ in .response(body: "12345", contentLength: 10) + [.close] }
            defer { server.stop() }
            let folder = try TemporaryDirectory()
            try Data("old".utf8).write(to: folder.file)
            let task = URLSession.fresh().beginDownloadTask(with: server.url("/"), to: folder.file)
            #expect(await task.ending() == .client(.truncatedBody(received: 5, expected: 10)))
            #expect(read(folder.file) == Data("old".utf8))
            #expect(try folder.contents() == ["file"])
        }

        @Test func `a cancelled download leaves nothing`() async throws {
            let server = try LoopbackServer { _ in .response(body: "12345", contentLength: 10) + [.stall] }
            defer { server.stop() }
            let folder = try TemporaryDirectory()
            let task = URLSession.fresh().beginDownloadTask(with: server.url("/"), to: folder.file)
            try await eventually { task.progress.fractionCompleted > 0 }
            #expect(try folder.contents().count == 1)
            task.cancel()
            #expect(await task.ending() == .url(.cancelled))
            // The task ends at once; the thread that writes bytes at the moment cleans up.
            try await eventually { (try? folder.contents()) == [] }
            try await eventually { server.openConnectionCount == 0 }
        }

        @Test(arguments: ["missing/file", "occupied/file", "folder"])
        func `a path that cannot be written is named before anything is sent`(path: String) async throws {
            let server = try LoopbackServer { _ in .response(body: "hello") }
            defer { server.stop() }
            let folder = try TemporaryDirectory()
            try Data().write(to: folder.url.appending(path: "occupied"))
            try FileManager.default.createDirectory(
                at: folder.url.appending(path: "folder"),
                withIntermediateDirectories: false
            )
            let destination = folder.url.appending(path: path)
            let task = URLSession.fresh().beginDownloadTask(with: server.url("/"), to: destination)
            let error = await task.failure() as? CocoaError
            #expect(error?.localizedDescription.contains("Cannot write \(destination.path)") == true)
            #expect(error?.userInfo[NSFilePathErrorKey] as? String == destination.path)
            #expect(server.requestCount == 0)
            #expect(try folder.contents() == ["folder", "occupied"])
        }

        @Test func `a destination that is no file is refused`() async throws {
            let server = try LoopbackServer { _ in .response(body: "hello") }
            defer { server.stop() }
            let destination = server.url(FileManager.default.temporaryDirectory.path + "/\(UUID().uuidString)")
            let task = URLSession.fresh().beginDownloadTask(with: server.url("/"), to: destination)
            let error = await task.failure() as? CocoaError
            #expect(error?.localizedDescription.contains(destination.absoluteString) == true)
            #expect(!FileManager.default.fileExists(atPath: destination.path))
            #expect(server.requestCount == 0)
        }

        @Test func `of two downloads to one destination the last to end wins, and its file is whole`() async throws {
            let gate = Gate(2)
            let server = try LoopbackServer { request in
                gate.pass()
                return .response(body: request.path == "/a" ? .pattern(count: 300_000) : .bytes(Data(count: 300_000)))
            }
            defer { server.stop() }
            let folder = try TemporaryDirectory()
            let session = URLSession.fresh()
            let first = session.beginDownloadTask(with: server.url("/a"), to: folder.file)
            let second = session.beginDownloadTask(with: server.url("/b"), to: folder.file)
            #expect(await first.ending() == .status(200))
            #expect(await second.ending() == .status(200))
            let content = read(folder.file)
            let isOneOfThem = content == Data(count: 300_000) || content == Self.big.prefix(300_000)
            #expect(isOneOfThem)
            #expect(try folder.contents() == ["file"])
        }
    }
}
