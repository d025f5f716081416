#if os(Linux)
import DeferredCore
import DeferredTesting
import Foundation
import FoundationNetworking
import TestSupport
import Testing

@testable import DeferredNetworking

@Suite("Libcurl loop", .ownThread, .timeLimit(.minutes(2)))
struct LibcurlLoopTests {
    private func load(_ url: URL, on engine: LibcurlEngine) async throws -> Data {
        let request = try CheckedRequest(URLRequest(url: url)).fitted(to: engine)
        return try await withCheckedThrowingContinuation { continuation in
            Exchange.gather(request, on: RetainedEngine(engine)) { continuation.resume(with: $0.map(\.0)) }
        }
    }

    private func engines(_ count: Int, on thread: LibcurlLoop) throws -> [LibcurlEngine] {
        try (0..<count).map { _ in try LibcurlEngine(URLClient.Configuration(), on: [thread]) }
    }

    @Test func `engines that share a thread share no connections`() async throws {
        let server = try LoopbackServer { _ in .response(body: "hello") }
        defer { server.stop() }
        let thread = LibcurlLoop()
        let engines = try engines(3, on: thread)
        for engine in engines + engines {
            #expect(try await load(server.url("/"), on: engine) == Data("hello".utf8))
        }
        #expect(server.connectionCount == 3)
        engines[0].invalidate()
        await engines[0].invalidated.value
        try await eventually { server.openConnectionCount == 2 }
        #expect(try await load(server.url("/"), on: engines[1]) == Data("hello".utf8))
        for engine in engines { engine.invalidate() }
        for engine in engines { await engine.invalidated.value }
        try await eventually { !thread.isRunning && server.openConnectionCount == 0 }
    }

    @Test func `a thread that lingers ends without requests, not before, and comes back`() async throws {
        let server = try LoopbackServer { _ in .response(body: "hello").dripped(every: .milliseconds(3)) }
        defer { server.stop() }
        let thread = LibcurlLoop(lingering: .milliseconds(1))
        let engines = try engines(2, on: thread)
        for _ in 0..<3 {
            for engine in engines {
                #expect(try await load(server.url("/"), on: engine) == Data("hello".utf8))
            }
            try await eventually { !thread.isRunning && server.openConnectionCount == 0 }
        }
        // Without a thread, nothing has to be closed.
        engines[0].invalidate()
        await engines[0].invalidated.value
        #expect(!thread.isRunning)
        #expect(try await load(server.url("/"), on: engines[1]) == Data("hello".utf8))
    }

    @Test func `requests at the same time take several threads, those one after another take one`() async throws {
        let mayAnswer = DispatchSemaphore(value: 0)
        let server = try LoopbackServer { request in
            if request.path == "/wait" { mayAnswer.wait() }
            return .response(body: "hello")
        }
        defer { server.stop() }
        let threads = (0..<3).map { _ in LibcurlLoop() }
        let engine = try LibcurlEngine(URLClient.Configuration(), on: threads)
        for _ in 0..<5 { #expect(try await load(server.url("/"), on: engine) == Data("hello".utf8)) }
        #expect(threads.map(\.isRunning) == [true, false, false] && server.connectionCount == 1)
        let bodies = try await withThrowingTaskGroup { group in
            for _ in 0..<6 { group.addTask { try await load(server.url("/wait"), on: engine) } }
            try await eventually { server.requests.count == 11 }
            for _ in 0..<6 { mayAnswer.signal() }
            return try await group.reduce(0) { $0 + $1.count }
        }
        #expect(bodies == 30 && threads.allSatisfy(\.isRunning) && server.connectionCount == 6)
        engine.invalidate()
        await engine.invalidated.value
        try await eventually { !threads.contains(where: \.isRunning) && server.openConnectionCount == 0 }
    }

    @Test func `engines that begin and end on a thread at the same time lose nothing`() async throws {
        let server = try LoopbackServer { _ in .response(body: "hello") }
        defer { server.stop() }
        let thread = LibcurlLoop(lingering: .zero)
        let count = try await withThrowingTaskGroup { group in
            for _ in 0..<8 {
                group.addTask {
                    for _ in 0..<25 {
                        let engine = try LibcurlEngine(URLClient.Configuration(), on: [thread])
                        guard try await load(server.url("/"), on: engine).count == 5 else { return 0 }
                        engine.invalidate()
                        await engine.invalidated.value
                    }
                    return 25
                }
            }
            return try await group.reduce(0, +)
        }
        #expect(count == 200)
        try await eventually { !thread.isRunning && server.openConnectionCount == 0 }
    }
}
#endif
