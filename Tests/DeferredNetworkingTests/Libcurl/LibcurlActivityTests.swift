#if os(Linux)
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
    private final class Sink: TransferSink {
        let body = Log<Data>()
        let activities = Log<Void>()
        let end = Deferred<Result<ResponseHead, any Error>>()

        func receive(head: ResponseHead) { activities.add(()) }
        func receive(bytes: Data) { body.add(bytes) }
        func report(_ progress: BodyProgress) {}
        func noteActivity() { activities.add(()) }
        func finish(_ result: Result<ResponseHead, any Error>) { end.fill(with: result) }
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
        let engine = try LibcurlEngine(URLClient.Configuration(), on: LibcurlThread())
        let (request, sink) = (try CheckedRequest(URLRequest(url: port.url)).fitted(to: engine), Sink())
        let transfer = Transfer(request, on: EngineLease(engine), sink: sink)
        port.receiveRequest()
        for piece in pieces {
            let count = sink.activities.entries.count
            port.send(piece)
            try await eventually { sink.activities.entries.count > count }
            #expect(sink.body.entries.isEmpty)
        }
        port.send(rest)
        try await eventually { Data(sink.body.entries.joined()) == Data("hello".utf8) }
        transfer.cancel()
        engine.invalidate()
        await engine.invalidated.value
    }

    @Test func `a session's time-out counts from the last byte`() async throws {
        let (port, clock, sink) = (try PromptedPort(), ManualClock(), Sink())
        let settings = URLSessionConfiguration.ephemeral
        settings.timeoutIntervalForRequest = 1
        let engine = try LibcurlEngine(session: settings)
        let request = try CheckedRequest(URLRequest(url: port.url)).fitted(to: engine)
        let timed = TimedSink.timing(sink, of: request, on: engine, clock: clock)
        let transfer = Transfer(request, on: EngineLease(engine), sink: timed)
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
        withExtendedLifetime(transfer) {}
        engine.invalidate()
        await engine.invalidated.value
    }
}
#endif
