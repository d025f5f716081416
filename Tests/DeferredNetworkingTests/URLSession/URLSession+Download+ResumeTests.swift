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
    @Suite("Resuming downloads")
    struct Resuming {
        private static let count = 200_000
        private static let cut = 70_000

        private let folder: TemporaryDirectory
        private var served: URL { folder.url.appending(path: "served") }

        init() throws {
            folder = try TemporaryDirectory()
            try LoopbackServer.Payload.patternBytes(0..<Self.count).write(to: served)
        }

        /// Starts a server for the file, which cuts its first answer.
        private func server(
            then answer: @escaping @Sendable (LoopbackServer.Request) -> LoopbackServer.Script? = { _ in nil }
        ) throws -> LoopbackServer {
            try LoopbackServer { [served] request in
                if request.number > 1, let script = answer(request) { return script }
                let script = LoopbackServer.Script.file(served, for: request)
                return request.number == 1 ? script.truncated(after: Self.cut) : script
            }
        }

        private func begin(_ server: LoopbackServer) -> Task<(URL, ResponseHead)> {
            var configuration = URLClient.Configuration()
            configuration.engine = .urlSession
            configuration.retries = .none
            return URLClient(configuration: configuration).download(server.url("/"), to: folder.file)
        }

        /// Downloads until the cut, and returns the number of bytes of the file that have arrived.
        private func downloadFirstPart(_ server: LoopbackServer) async throws -> Int {
            let error = await begin(server).failure() as? URLClientError
            guard case .truncatedBody(let received, Int64(Self.count))? = error?.code else {
                Issue.record("\(error as Any)")
                return 0
            }
            #expect(try folder.contents() == ["file.partial", "file.partial.validator", "served"])
            return Int(received)
        }

        private func expectWholeFile() throws {
            let isSame = try Data(contentsOf: folder.file) == Data(contentsOf: served)
            #expect(isSame)
            #expect(try folder.contents() == ["file", "served"])
        }

        @Test func `resumes where the first download was cut`() async throws {
            let server = try server()
            defer { server.stop() }
            let received = try await downloadFirstPart(server)
            let task = begin(server)
            #expect(await task.ending() == .status(206))
            #expect(task.progress.fractionCompleted == 1)
            try expectWholeFile()
            let second = try #require(server.requests.last).headers
            #expect(server.requestCount == 2)
            #expect(second["Range"] == "bytes=\(received)-")
            #expect(second["If-Range"]?.hasPrefix("\"") == true)
            #expect(second["Accept-Encoding"] == "identity")
        }

        @Test func `progress counts the part that was there`() async throws {
            let server = try server(then: { request in
                guard let range = request.headers["Range"], let start = Int(range.dropFirst(6).dropLast()),
                    let tag = request.headers["If-Range"]
                else { return nil }
                return .response(
                    206,
                    headers: ["Content-Range": "bytes \(start)-\(Self.count - 1)/\(Self.count)", "ETag": "\(tag)"],
                    body: .bytes(LoopbackServer.Payload.patternBytes(start..<start + 30_000)),
                    contentLength: Self.count - start
                ) + [.stall]
            })
            defer { server.stop() }
            let received = try await downloadFirstPart(server)
            let task = begin(server)
            let expected = Double(received + 30_000) / Double(Self.count)
            try await eventually { abs(task.progress.fractionCompleted - expected) < 1e-6 }
            task.cancel()
            #expect(await task.ending() == .url(.cancelled))
            let kept = try Data(contentsOf: folder.url.appending(path: "file.partial")).count
            #expect(kept == received + 30_000)
        }

        @Test func `a file that has changed is downloaded from the start`() async throws {
            let server = try server()
            defer { server.stop() }
            _ = try await downloadFirstPart(server)
            try Data("changed".utf8).write(to: served)
            #expect(await begin(server).ending() == .status(200))
            try expectWholeFile()
            #expect(server.requestCount == 2)
        }

        @Test func `a part that is the whole file is complete when the server says so`() async throws {
            let server = try server(then: { _ in
                .response(416, headers: ["Content-Range": "bytes */\(Self.count)"])
            })
            defer { server.stop() }
            _ = try await downloadFirstPart(server)
            try LoopbackServer.Payload.patternBytes(0..<Self.count).write(
                to: folder.url.appending(path: "file.partial")
            )
            #expect(await begin(server).ending() == .status(200))
            try expectWholeFile()
            #expect(server.requestCount == 2)
        }

        @Test(arguments: ["bytes */10", "bytes */*", nil])
        func `a download starts over if the server refuses the range otherwise`(range: String?) async throws {
            let server = try server(then: { request in
                guard request.headers["Range"] != nil else { return nil }
                return .response(416, headers: range.map { ["Content-Range": $0] } ?? [:])
            })
            defer { server.stop() }
            _ = try await downloadFirstPart(server)
            #expect(await begin(server).ending() == .status(200))
            try expectWholeFile()
            #expect(server.requestCount == 3)
        }

        @Test func `an answer with another range starts the download over`() async throws {
            let server = try server(then: { request in
                guard request.headers["Range"] != nil else { return nil }
                return .response(206, headers: ["Content-Range": "bytes 5-9/\(Self.count)"], body: "56789")
            })
            defer { server.stop() }
            _ = try await downloadFirstPart(server)
            #expect(await begin(server).ending() == .status(200))
            try expectWholeFile()
            #expect(server.requestCount == 3)
        }

        @Test func `an error status keeps the part`() async throws {
            let server = try server(then: { $0.number == 2 ? .response(503, body: "busy") : nil })
            defer { server.stop() }
            _ = try await downloadFirstPart(server)
            #expect(
                await begin(server).ending() == .client(.unacceptableStatus(code: 503, body: Data("busy".utf8)))
            )
            #expect(await begin(server).ending() == .status(206))
            try expectWholeFile()
        }

        @Test func `a file without a strong validator leaves no part`() async throws {
            let server = try LoopbackServer { _ in
                .response(headers: ["ETag": "W/\"weak\""], body: "12345", contentLength: 10) + [.close]
            }
            defer { server.stop() }
            #expect(await begin(server).ending() == .client(.truncatedBody(received: 5, expected: 10)))
            #expect(try folder.contents() == ["served"])
        }

        @Test func `a second download of the same part is refused while the first one runs`() async throws {
            let server = try LoopbackServer { _ in
                .response(headers: ["ETag": "\"e\""], body: "12345", contentLength: 10) + [.stall]
            }
            defer { server.stop() }
            let first = begin(server)
            try await eventually { first.progress.fractionCompleted > 0 }
            let second = begin(server)
            #expect(second.isFilled)
            #expect(await second.ending() == .cocoa(.fileLocking))
            first.cancel()
            #expect(await first.ending() == .url(.cancelled))
            #expect(try folder.contents() == ["file.partial", "file.partial.validator", "served"])
        }

        @Test func `cancelling at random moments and resuming gives the same bytes in the end`() async throws {
            let server = try LoopbackServer { [served] request in
                .file(served, for: request).dripped(20_000, every: .milliseconds(1))
            }
            defer { server.stop() }
            var random = SeededGenerator(seed: 1)
            for _ in 0..<30 {
                let task = begin(server)
                await giveWay(using: &random)
                task.cancel()
                _ = await task.failure()
            }
            #expect([.status(200), .status(206)].contains(await begin(server).ending()))
            try expectWholeFile()
        }
    }
}
