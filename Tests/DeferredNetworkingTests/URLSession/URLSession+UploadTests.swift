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
    @Suite("Uploads")
    struct Uploads {
        private let body = LoopbackServer.Payload.patternBytes(0..<200_000)

        private func server() throws -> LoopbackServer {
            try LoopbackServer { request in
                request.path == "/" ? .redirect(to: "/echo", status: 307) : .response(body: .bytes(request.body))
            }
        }

        @Test func `data arrives as it is, also after a redirect, and progress counts it`() async throws {
            let server = try server()
            defer { server.stop() }
            let request = URLRequest.post(server.url("/"), Data("replaced".utf8))
            let task = URLSession.fresh().beginUploadTask(with: request, from: body)
            let progress = task.progress
            let isSame = try await task.get().0 == body
            #expect(isSame)
            #expect(progress.fractionCompleted == 1)
        }

        @Test func `a file arrives as it is`() async throws {
            let server = try server()
            defer { server.stop() }
            let folder = try TemporaryDirectory()
            try body.write(to: folder.file)
            let request = URLRequest.post(server.url("/echo"), Data())
            let isSame =
                try await URLSession.fresh().beginUploadTask(with: request, fromFile: folder.file).get().0 == body
            #expect(isSame)
        }

        @Test func `progress counts the bytes that go out, before anything comes back`() async throws {
            let server = try LoopbackServer { _ in [.stall] }
            defer { server.stop() }
            let folder = try TemporaryDirectory()
            try body.write(to: folder.file)
            let request = URLRequest.post(server.url("/"), Data())
            let session = URLSession.fresh()
            for task in [
                session.beginUploadTask(with: request, from: body),
                session.beginUploadTask(with: request, fromFile: folder.file),
            ] {
                try await eventually { task.progress.fractionCompleted > 0.9 }
                task.cancel()
            }
        }

        @Test(arguments: [true, false])
        func `an upload of a file that ends while the file is read does not trap`(isCancelled: Bool) async throws {
            let server = try LoopbackServer(
                beforeBody: { _ in isCancelled ? nil : .response(413) },
                respond: { .response(body: .bytes($0.body)) }
            )
            defer { server.stop() }
            let folder = try TemporaryDirectory()
            try body.write(to: folder.file)
            let session = URLSession.fresh()
            let endings = Log<Ending>()
            await withTaskGroup { group in
                for worker in 0..<4 {
                    group.addTask {
                        var random = SeededGenerator(seed: UInt64(worker))
                        for _ in 0..<250 {
                            let request = URLRequest.post(server.url("/"), Data())
                            let task = session.beginUploadTask(with: request, fromFile: folder.file)
                            if isCancelled {
                                await giveWay(using: &random)
                                task.cancel()
                            }
                            endings.add(await task.ending())
                        }
                    }
                }
            }
            #expect(endings.entries.count == 1_000)
        }

        @Test func `a file is sent with its length, and nothing is added`() async throws {
            let server = try server()
            defer { server.stop() }
            let folder = try TemporaryDirectory()
            try body.write(to: folder.file)
            for path in ["/", "/echo"] {
                let request = URLRequest.post(server.url(path), Data())
                _ = try await URLSession.fresh().beginUploadTask(with: request, fromFile: folder.file).get()
                let headers = try #require(server.requests.last).headers
                #expect(headers["Content-Length"] == "200000")
                #expect(headers["Transfer-Encoding"] == nil && headers["Content-Type"] == nil)
            }
        }

        @Test func `a file that shrinks while it is sent fails, and names the file`() async throws {
            let folder = try TemporaryDirectory()
            let path = folder.file.path
            try Data().write(to: folder.file)
            // More than the two sockets hold, however late it shrinks.
            try #require(truncate(path, 64 << 20) == 0)
            let server = try LoopbackServer(
                beforeBody: { _ in
                    truncate(path, 1_000)
                    return nil
                },
                respond: { _ in .response(200) }
            )
            defer { server.stop() }
            let request = URLRequest.post(server.url("/"), Data())
            let task = URLSession.fresh().beginUploadTask(with: request, fromFile: folder.file)
            let error = try #require(await task.failure() as? CocoaError)
            #expect(error.code == .fileReadUnknown && error.filePath == path)
        }

        @Test func `a GET with a body, and a file that cannot be read, are refused at once`() throws {
            let url = try #require(URL(string: "http://host/"))
            let tasks = [
                URLSession.fresh().beginUploadTask(with: URLRequest(url: url), from: body),
                URLSession.fresh().beginUploadTask(
                    with: .post(url, Data()),
                    fromFile: URL(filePath: "/nowhere/at/all")
                ),
                URLSession.fresh().beginUploadTask(with: .post(url, Data()), fromFile: url),
            ]
            for task in tasks {
                guard case .failure(let error as URLClientError)? = task.peek(), case .invalidRequest = error.code
                else {
                    Issue.record("not refused")
                    continue
                }
            }
        }

        @Test func `the session's time-out for resources ends an endless request`() async throws {
            let server = try LoopbackServer { _ in
                [
                    .send("HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\n"),
                    .stall,
                ]
            }
            defer { server.stop() }
            let configuration = URLSessionConfiguration.ephemeral
            configuration.timeoutIntervalForResource = 0.2
            let session = URLSession(configuration: configuration)
            #expect(await session.beginDataTask(with: server.url("/")).ending() == .url(.timedOut))
            let folder = try TemporaryDirectory()
            let download = session.beginDownloadTask(with: server.url("/"), to: folder.file)
            #expect(await download.ending() == .url(.timedOut))
        }
    }
}
