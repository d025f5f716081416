#if os(Linux)
import CLibcurl
import DeferredCore
import DeferredTesting
import Foundation
import FoundationNetworking
import TestSupport
import Testing

@testable import DeferredNetworking

/// Tests of what postpones the end of a silence, byte by byte.
@Suite("Libcurl: activity", .ownThread, .timeLimit(.minutes(2)))
struct LibcurlActivityTests {
    private final class Sink: ResponseReceiver, ExchangeDelegate {
        let body = Log<Data>()
        let activities = Log<Void>()
        let end = Deferred<Result<ResponseHead, any Error>>()

        func receive(head: ResponseHead, of exchange: Exchange) -> HeadVerdict {
            activities.add(())
            return .take
        }
        func receive(bytes: Data) { body.add(bytes) }
        func report(_ progress: BodyProgress) {}
        func note(_ event: EngineEvent) {
            if case .activity = event { activities.add(()) }
        }
        func finish(_ result: Result<ResponseHead, any Error>) -> AttemptEnd {
            end.fill(with: result)
            return .result(result.map { .file($0) })
        }

        func begin(_ request: CheckedRequest, on engine: any Engine, _ settings: Exchange.Settings = .init())
            -> Exchange
        {
            .begin(request, on: RetainedEngine(engine), settings, delegate: self, to: self) { _, _ in }
        }
    }

    private static let gzip = FuzzCoding.gzip(Data("hello".utf8))

    /// Pieces of a response without a byte of a body, and what completes it.
    private static let responses: [String: (pieces: [Data], rest: Data)] = [
        "interim heads": (
            Array(repeating: Data("HTTP/1.1 103 Early Hints\r\n\r\n".utf8), count: 5),
            Data("HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nhello".utf8)
        ),
        "lines of the head": (
            [Data("HTTP/1.1 200 OK\r\n".utf8)] + Array(repeating: Data("A: b\r\n".utf8), count: 5),
            Data("Content-Length: 5\r\n\r\nhello".utf8)
        ),
        "bytes that the decoder holds back": (
            [
                Data("HTTP/1.1 200 OK\r\nContent-Encoding: gzip\r\nConnection: close\r\n\r\n".utf8),
                // The name of a file, which is no part of the body.
                Data([0x1F, 0x8B, 8, 8, 0, 0, 0, 0, 0, 0]), Data("nnn".utf8), Data("nnn".utf8), Data("nnn".utf8),
            ],
            [0] + gzip.dropFirst(10)
        ),
    ]

    @Test(arguments: responses.keys.sorted())
    func `each byte that arrives is activity, also if it is not of the body`(name: String) async throws {
        let (pieces, rest) = try #require(Self.responses[name])
        let port = try PromptedPort()
        let engine = try LibcurlEngine(URLClient.Configuration(), on: [LibcurlLoop()])
        let (request, sink) = (try CheckedRequest(URLRequest(url: port.url)).fitted(to: engine), Sink())
        let sending = sink.begin(request, on: engine)
        port.receiveRequest()
        for piece in pieces {
            let count = sink.activities.entries.count
            port.send(piece)
            try await eventually { sink.activities.entries.count > count }
            #expect(sink.body.entries.isEmpty)
        }
        port.send(rest)
        try await eventually { Data(sink.body.entries.joined()) == Data("hello".utf8) }
        sending.cancel()
        engine.invalidate()
        await engine.invalidated.value
    }

    // MARK: Bytes that are no event

    private func begin(_ request: URLRequest) throws -> (Exchange, Sink, LibcurlEngine) {
        let engine = try LibcurlEngine(URLClient.Configuration(), on: [LibcurlLoop()])
        let (checked, sink) = (try CheckedRequest(request).fitted(to: engine), Sink())
        return (sink.begin(checked, on: engine), sink, engine)
    }

    private func end(_ sending: Exchange, _ engine: LibcurlEngine) async {
        sending.cancel()
        engine.invalidate()
        await engine.invalidated.value
    }

    @Test(arguments: ["http", "https"])
    func `a byte of a line or of a handshake ends a silence`(scheme: String) async throws {
        let port = try PromptedPort()
        let url = try #require(URL(string: "\(scheme)://127.0.0.1:\(port.number)/"))
        let (sending, sink, engine) = try begin(URLRequest(url: url))
        if scheme == "http" { port.receiveRequest() } else { port.acceptConnection() }
        // The beginning of a line, or of a record of 16 KiB.
        port.send(scheme == "http" ? Array("HTTP/1.1 200 ".utf8) : [0x16, 3, 3, 0x40, 0])
        for _ in 0..<3 {
            try await eventually { (sending.task?.silence ?? .zero) >= .milliseconds(100) }
            try await eventually {
                port.send("A")
                return (sending.task?.silence ?? .forever) < .milliseconds(100)
            }
        }
        #expect(sink.activities.entries.isEmpty)
        await end(sending, engine)
        #expect(sending.task?.silence == nil)
    }

    @Test func `a byte that the server takes of what was sent ends a silence`() async throws {
        let port = try PromptedPort()
        let put = URLRequest(port.url) {
            $0.httpMethod = "PUT"
            $0.httpBody = Data(count: 64 << 20)
        }
        let (sending, _, engine) = try begin(put)
        port.receiveRequest()
        // While the server reads nothing, it still acknowledges probes.
        try await eventually { (sending.task?.silence ?? .zero) >= .milliseconds(500) }
        try await eventually {
            port.receive(1 << 20)
            return (sending.task?.silence ?? .forever) < .milliseconds(500)
        }
        await end(sending, engine)
    }

    @Test func `streams on one connection say nothing of each other`() async throws {
        let url = try #require(URL(string: "https://127.0.0.1/"))
        let engine = try LibcurlEngine(URLClient.Configuration(), on: [LibcurlLoop()])
        let request = try CheckedRequest(URLRequest(url: url)).fitted(to: engine)
        let task = LibcurlTask(request, of: .idle(request, to: Sink()), as: 1, in: engine)
        let poll = try #require(poll_set_create())
        defer { poll_set_destroy(poll) }
        let multi = try #require(LibcurlMulti(number: 1, poll: poll))
        defer { multi.destroy() }
        let handle = try #require(LibcurlHandle(engine.options, plainHeaders: LibcurlHeaders(), poll: poll))
        defer { handle.release() }
        let runner = LibcurlLoop.Runner(poll, LibcurlLoop())
        let connections = LibcurlConnections(engine.options, on: runner, poll: poll)
        let exchange = LibcurlTransfer(task, on: handle, of: multi, in: connections)
        let port = try PromptedPort()
        let socket = port.connectedSocket()
        exchange.isWatched(at: socket, isRead: true)
        #expect(exchange.mayBeSent(from: 0, to: nil, 0))
        // Something comes on the connection, for another one perhaps.
        port.acceptConnection()
        try await eventually { (task.silence ?? .zero) > .milliseconds(200) }
        port.send("A")
        try await eventually { connection_silence(socket) < 100 }
        #expect((task.silence ?? .zero) > .milliseconds(200))
        _ = Array("HTTP/2 200\r\n".utf8).withUnsafeBytes { exchange.receive(line: $0) }
        #expect((task.silence ?? .zero) > .milliseconds(200))
        close(socket)
        engine.invalidate()
        await engine.invalidated.value
    }

    @Test func `a response whose head drips is no silence`() async throws {
        let port = try PromptedPort()
        let client = URLClient.fresh {
            $0.engine = .libcurl
            $0.deadlines.idle = .seconds(3)
        }
        let response = client.begin(port.url)
        port.receiveRequest()
        port.send("HTTP/1.1 200 OK\r\nA: ")
        let beginning = ContinuousClock.now
        while ContinuousClock.now < beginning + .milliseconds(4_500) {
            port.send("a")
            try await _Concurrency.Task.sleep(for: .milliseconds(20))
        }
        port.send("\r\nContent-Length: 5\r\n\r\nhello")
        #expect(await response.ending() == .status(200))
    }

    @Test func `waiting for a connection that others use is no silence`() async throws {
        let server = try LoopbackServer { _ in .response(body: "hello").delayed(by: .seconds(1)) }
        let client = URLClient.fresh {
            $0.engine = .libcurl
            $0.maximumConnectionsPerHost = 1
            $0.deadlines.idle = .seconds(3)
        }
        let responses = (1...5).map { client.begin(server.url("/\($0)")) }
        for response in responses { #expect(await response.ending() == .status(200)) }
    }

    @Test func `waiting for a host that doesn't answer is a silence`() async throws {
        let port = try PromptedPort()
        let client = URLClient.fresh {
            $0.engine = .libcurl
            $0.maximumConnectionsPerHost = 1
            $0.deadlines.idle = .seconds(3)
        }
        let start = ContinuousClock.now
        let responses = (1...5).map { _ in client.begin(port.url) }
        for response in responses { #expect(await response.ending() == .url(.timedOut)) }
        // The one that gets the place of the first has its own time; the others have none left.
        #expect(.now - start < .seconds(8))
    }

    @Test func `the silence begins with the connection`() async throws {
        let port = try PromptedPort()
        let client = URLClient.fresh {
            $0.engine = .libcurl
            $0.maximumConnectionsPerHost = 1
            $0.deadlines.idle = .seconds(2)
        }
        let (first, second) = (client.begin(port.url), client.begin(port.url))
        port.receiveRequest()
        try await _Concurrency.Task.sleep(for: .milliseconds(1_500))
        let start = ContinuousClock.now
        port.send("HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n")
        #expect(await first.ending() == .status(200))
        #expect(await second.ending() == .url(.timedOut))
        #expect(.now - start >= .seconds(2))
    }

    @Test func `a session's time-out counts from the last byte`() async throws {
        let (port, clock, sink) = (try PromptedPort(), ManualClock(), Sink())
        let settings = URLSessionConfiguration.ephemeral
        settings.timeoutIntervalForRequest = 1
        let engine = try LibcurlEngine(session: settings)
        let request = try CheckedRequest(URLRequest(url: port.url)).fitted(to: engine)
        let sending = sink.begin(request, on: engine, .init(clock: clock))
        port.receiveRequest()
        port.send("HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\n1")
        for number in 2...5 {
            try await eventually { sink.body.entries.count == number - 1 }
            clock.advance(by: .milliseconds(900))
            port.send("\(number)")
        }
        try await eventually { sink.body.entries.count == 5 }
        clock.advance(by: .seconds(1))
        let result = try await sink.end.get()
        #expect(throws: URLError.self) { try result.get() }
        withExtendedLifetime(sending) {}
        engine.invalidate()
        await engine.invalidated.value
    }
}
#endif
