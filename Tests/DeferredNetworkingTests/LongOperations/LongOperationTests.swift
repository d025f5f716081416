import DeferredCore
import DeferredTask
import DeferredTesting
import Foundation
import Synchronization
import TestSupport
import Testing

@testable import DeferredNetworking

#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

#if os(macOS) || os(Linux)
@Suite("Long operations", .ownThread, .timeLimit(.minutes(2)))
struct LongOperationTests {
    /// An event of a stream of events. It is sent as a chunk, and seventy of those together.
    private static let event = "data: a\n\n"
    private static let group = 70

    /// Foundation takes its time for each chunk.
    private static let eventCount = 20_000

    private static func server(_ events: LongOperationEvents) throws -> LoopbackServer {
        let chunk = "\(String(event.utf8.count, radix: 16))\r\n\(event)\r\n"
        let chunks = LoopbackServer.Payload.text(String(repeating: chunk, count: group))
        return try LoopbackServer { request in
            request.method == "POST"
                ? .response()
                : [.send("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n")]
                    + .repeating([.send(chunks)], count: events.count / group + 1) + [.send("0\r\n\r\n")]
        }
    }

    /// Runs a request, and notes its events by its progress.
    private static func door<Value>(
        _ name: String,
        bytesKept: Int = 0,
        _ begin: @escaping @Sendable (URL) throws -> Task<Value>
    ) -> LongOperation {
        LongOperation(name, count: eventCount, bytesKept: bytesKept) { events in
            let server = try server(events)
            defer { server.stop() }
            let noted = Atomic(0)
            let task = try begin(server.url("/"))
            task.uponProgress(on: .immediate) { progress in
                let count = Int(progress.completed) / event.utf8.count
                events.note(count - noted.exchange(count, ordering: .relaxed))
            }
            _ = try await task.get()
        }
    }

    /// Reads a stream, and notes its events as they are read.
    private static func stream(
        _ name: String,
        _ read: @escaping @Sendable (HTTPBodyStream, LongOperationEvents) async throws -> Void
    ) -> LongOperation {
        LongOperation(name, count: eventCount) { events in
            let server = try server(events)
            defer { server.stop() }
            try await read(URLClient.fresh().stream(server.url("/")).get().body, events)
        }
    }

    /// Sends events to an exchange without an engine, on a small stack.
    private static func exchange(
        _ name: String,
        count: Int = 100_000,
        piece: Int = 1,
        bytesKept: Int = 0,
        _ makeReceiver: @escaping @Sendable () -> any ResponseReceiver
    ) -> LongOperation {
        LongOperation(name, count: count, bytesKept: bytesKept) { events in
            let (request, receiver) = (try CheckedRequest(URLRequest(url: url)), makeReceiver())
            let head = ResponseHead.made(200, from: url.absoluteString)
            await onThread(stackSize: 512 << 10) {
                let exchange = Exchange.begin(request, on: RetainedEngine(StubEngine()), to: receiver) { _, _ in }
                exchange.receive(.head(head), of: 1)
                for _ in 0..<events.count {
                    exchange.receive(.bytes(Data(count: piece)), of: 1)
                    events.note()
                }
                exchange.receive(.ended(head, error: nil), of: 1)
            }
        }
    }

    private static func buffer(_ name: String, memoryLimit: Int) -> LongOperation {
        LongOperation(name) { events in
            let buffer = StreamBuffer(memoryLimit: memoryLimit, limit: 1_000)
            buffer.pauseWhenFull(.idle(try CheckedRequest(URLRequest(url: url))))
            for index in 0..<events.count {
                try buffer.append(Data(count: 100))
                // Several wait, and now and then they are read.
                if index % 20 == 19 { while buffer.waitingCount > 500 { _ = try await buffer.next() } }
                events.note()
            }
        }
    }

    private static let url = URL(string: "http://host/") ?? file
    private static let folder = try? TemporaryDirectory()
    private static var file: URL { folder?.file ?? URL(filePath: "/") }

    private static let doors: [LongOperation] = [
        door("begin", bytesKept: 24) { URLClient.fresh().begin($0) },
        door("download") { URLClient.fresh().download($0, to: file) },
        door("session begin", bytesKept: 24) { URLSession.fresh().beginDataTask(with: $0) },
        door("session download") { URLSession.fresh().beginDownloadTask(with: $0, to: file) },
    ]

    private static let streams: [LongOperation] = [
        stream("stream") { body, events in
            var count = 0
            for try await bytes in body {
                count += bytes.count
                events.note(count / event.utf8.count)
                count %= event.utf8.count
            }
        },
        stream("lines") { body, events in
            for try await line in body.lines where !line.isEmpty { events.note() }
        },
        stream("server-sent events") { body, events in
            for try await _ in body.serverSentEvents { events.note() }
        },
    ]

    // Foundation releases its buffers late.
    private static let upload = LongOperation("upload", count: eventCount, bytesKept: isLibcurlTested ? 0 : 1_000) {
        events in
        let server = try server(events)
        defer { server.stop() }
        let task = URLClient.fresh().upload(server.url("/"), from: .stream { PieceByPiece(events) })
        _ = try await task.get()
    }

    private static let retries = LongOperation("retries", count: 3_000) { events in
        let server = try LoopbackServer(requestLogLimit: 0) { _ in .response(503) }
        defer { server.stop() }
        let client = URLClient.fresh {
            $0.retries = URLClient.Retries()
            $0.retries.attempts = events.count
            $0.retries.clock = ImmediateClock()
            $0.monitor = { if case .sent = $0.kind { events.note() } }
        }
        let failure = await client.begin(server.url("/")).failure()
        #expect(failure != nil)
    }

    private static let waiting = LongOperation("requests that wait for a place") { events in
        var machine = AdmissionStateMachine(limit: 1)
        for request in 0..<UInt64(events.count) {
            _ = machine.arrived(request, origin: "\(request % 3)")
            // Ends one that runs, and one that waits.
            if request % 2 == 1 { for other in [request - 1, request] { _ = machine.left(other) } }
            events.note()
        }
    }

    private static let exchanges: [LongOperation] = [
        exchange("data receiver", bytesKept: 4) { DataReceiver() },
        exchange("data receiver of a large body", count: 5_000, piece: 4_096, bytesKept: 16_384) { DataReceiver() },
        exchange("file receiver") { FileReceiver(to: file, resuming: false) },
    ]

    private static let buffers = [
        buffer("stream buffer in memory", memoryLimit: 1 << 20),
        buffer("stream buffer in a file", memoryLimit: 100),
    ]

    private static let operations = doors + streams + [upload, retries, waiting] + exchanges + buffers

    @Test(arguments: operations.map(\.name))
    func `its last events cost no more than its first ones`(name: String) async {
        await #expect(processExitsWith: .success) { [name] in
            limitStacks(to: 256 << 10)
            try await Self.operations.expectSteadyCost(of: name)
        }
    }
}
#endif

/// A stream that has a byte for each event, and never more at once.
private final class PieceByPiece: InputStream {
    private let events: LongOperationEvents
    private var rest: Int
    private var status = Status.notOpen

    init(_ events: LongOperationEvents) {
        (self.events, rest) = (events, events.count)
        super.init(data: Data())
    }

    override var streamStatus: Status { status }
    override var streamError: (any Error)? { nil }
    override var hasBytesAvailable: Bool { status == .open }

    override func open() { status = .open }
    override func close() { status = .closed }

    override func read(_ buffer: UnsafeMutablePointer<UInt8>, maxLength count: Int) -> Int {
        guard rest > 0 else {
            status = .atEnd
            return 0
        }
        rest -= 1
        buffer[0] = 1
        events.note()
        return 1
    }
}
