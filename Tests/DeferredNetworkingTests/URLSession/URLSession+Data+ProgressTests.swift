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
    @Suite("Progress")
    struct Progressing {
        private func isAbout(_ value: Double, _ expected: Double) -> Bool { abs(value - expected) < 1e-6 }

        @Test func `grows with the bytes of the body, and is whole at the end`() async throws {
            let port = try PromptedPort()
            let task = URLSession.fresh().beginDataTask(with: port.url)
            let progress = task.progress
            var fractions = [0.0]
            port.receiveRequest()
            port.send("HTTP/1.1 200 OK\r\nContent-Length: 2000\r\n\r\n")
            for part in 1...4 {
                port.send(Data(count: 500))
                try await eventually {
                    if progress.fractionCompleted != fractions.last { fractions.append(progress.fractionCompleted) }
                    return isAbout(progress.fractionCompleted, Double(part) / 4)
                }
            }
            #expect(await task.ending() == .status(200))
            #expect(fractions == fractions.sorted())
            // Written by the thread that ends the task, right after others can see the end.
            try await eventually { progress.fractionCompleted == 1 }
            #expect(task.progress.fractionCompleted == 1)
        }

        @Test func `its fraction is the part of the Content-Length that has arrived`() async throws {
            let server = try LoopbackServer { _ in
                .response(body: .pattern(count: 250), contentLength: 1_000) + [.stall]
            }
            defer { server.stop() }
            let task = URLSession.fresh().beginDataTask(with: server.url("/"))
            try await eventually { task.progress.fractionCompleted > 0 }
            #expect(isAbout(task.progress.fractionCompleted, 0.25))
            task.cancel()
            #expect(await task.ending() == .url(.cancelled))
            #expect(task.progress.fractionCompleted < 1)
        }

        @Test func `of a body of unknown length stays below one until the end`() async throws {
            let server = try LoopbackServer { _ in
                .chunked(Array(repeating: .pattern(count: 100), count: 20)).dripped(300, every: .milliseconds(1))
            }
            defer { server.stop() }
            let task = URLSession.fresh().beginDataTask(with: server.url("/"))
            let progress = task.progress
            let atTheEnd = Deferred<Bool>()
            // Registered after the progress was fetched, and so called when the progress has been completed.
            task.upon(.immediate) { _ in atTheEnd.fill(with: progress.fractionCompleted == 1) }
            try await eventually {
                let fraction = progress.fractionCompleted
                return task.isFilled || fraction == 1
            }
            #expect(task.isFilled)
            #expect(await atTheEnd.value)
        }

        @Test func `of a derived task weighs the request ten times as much as the transform`() async throws {
            let server = try LoopbackServer { request in
                request.path == "/half"
                    ? .response(body: .pattern(count: 500), contentLength: 1_000) + [.stall] : .response(body: "hello")
            }
            defer { server.stop() }
            let session = URLSession.fresh()
            let half = session.beginDataTask(with: server.url("/half")).map { data, _ in data.count }
            try await eventually { half.progress.fractionCompleted > 0 }
            #expect(isAbout(half.progress.fractionCompleted, 10 * 0.5 / 11))
            half.progress.cancel()
            #expect(await half.failure() is CancellationError)

            let (gate, blocked) = (DispatchSemaphore(value: 0), DispatchQueue(label: "blocked"))
            let whole = session.beginDataTask(with: server.url("/")).map(on: blocked) { data, _ in
                gate.wait()
                return data.count
            }
            try await eventually { whole.progress.fractionCompleted > 0.9 }
            #expect(isAbout(whole.progress.fractionCompleted, 10.0 / 11))
            gate.signal()
            #expect(try await whole.get() == 5)
            #expect(whole.progress.fractionCompleted == 1)
        }

        @Test func `counts the final response only`() async throws {
            let server = try LoopbackServer { request in
                request.path == "/"
                    ? .response(302, headers: ["Location": "/half"], body: .pattern(count: 900))
                    : .response(body: .pattern(count: 500), contentLength: 1_000) + [.stall]
            }
            defer { server.stop() }
            let task = URLSession.fresh().beginDataTask(with: server.url("/"))
            try await eventually { task.progress.fractionCompleted > 0 }
            #expect(isAbout(task.progress.fractionCompleted, 0.5))
            task.cancel()
        }

        @Test func `of a download counts bytes as well`() async throws {
            let server = try LoopbackServer { _ in
                .response(body: .pattern(count: 250), contentLength: 1_000) + [.stall]
            }
            defer { server.stop() }
            let folder = try TemporaryDirectory()
            let task = URLSession.fresh().beginDownloadTask(with: server.url("/"), to: folder.file)
            try await eventually { task.progress.fractionCompleted > 0 }
            #expect(isAbout(task.progress.fractionCompleted, 0.25))
            task.progress.cancel()
            #expect(await task.ending() == .url(.cancelled))
            try await eventually { (try? folder.contents()) == [] }
        }
    }
}
