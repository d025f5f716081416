import Deferred
import Foundation
import Synchronization

#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

/// A client that does as standard input says, and prints a line for each end: whatever is reported twice is printed twice.
final class Agent {
    private var client: URLClient?

    func obey(_ order: Order) {
        switch order.verb {
        case .open: client = URLClient(configuration: order.settings.configuration)
        case .crowd: for index in 0..<order.count { beginAlone(order, "\(order.id).\(index)") }
        case .cancel: client?.cancelAll()
        case .drop: client = nil
        case .shutdown:
            client?.shutdown().upon(.any()) { Report.print(["closed": .text(order.id)]) }
            client = nil
        case .get, .upload, .spool, .download, .stream, .echo:
            guard let client else { return }
            for index in 0..<order.count {
                begin(order, order.count == 1 ? order.id : "\(order.id).\(index)", by: client)
            }
        }
    }

    /// Begins a request by a client of its own, which nobody holds.
    private func beginAlone(_ order: Order, _ id: String) {
        begin(order, id, by: URLClient(configuration: order.settings.configuration))
    }

    private func begin(_ order: Order, _ id: String, by client: URLClient) {
        let report = Report(id)
        var request = URLRequest(url: order.url)
        request.httpMethod = order.method
        let options = URLClient.RequestOptions(monitor: report.monitor)
        switch order.verb {
        case .download:
            guard let file = order.file else { return }
            report.end(of: client.download(request, to: file, options: options)) { ($1.status.code, 0) }
        case .upload:
            guard let file = order.file else { return }
            report.end(of: client.upload(request, from: .file(file), options: options)) { ($1.status.code, $0.count) }
        case .spool:
            guard let file = order.file, let bytes = try? Data(contentsOf: file) else { return }
            let pieces = AsyncStream { continuation in
                for start in stride(from: 0, to: bytes.count, by: 1 << 16) {
                    continuation.yield(bytes[start..<min(start + 1 << 16, bytes.count)])
                }
                continuation.finish()
            }
            let request = HTTPRequest(.put, url: order.url, body: .stream(pieces, spooled: true))
            report.end(of: URLSessionLoader(client: client).load(request).task) { ($0.status.code, $0.body.count) }
        case .stream:
            let task = client.stream(request, options: options)
            let read = Task {
                let response = try await task.get()
                var count = 0
                for try await bytes in response.body { count += bytes.count }
                return (response.head.status.code, count)
            }
            report.end(of: read) { $0 }
        case .echo:
            var request = HTTPRequest(.post, url: order.url, body: .stream(Zeros(count: order.size)))
            request.delivery = .stream
            let task = URLSessionLoader(client: client).load(request)
            let read = Task {
                let response = try await task.get()
                guard let stream = response.stream else { throw WrongBody() }
                var count = 0
                for try await bytes in stream { count += bytes.count }
                return (response.status.code, count)
            }
            report.end(of: read) { $0 }
        default:
            let expected = order.file.flatMap { try? Data(contentsOf: $0) }
            report.end(of: client.begin(request, options: options)) { body, response in
                if let expected, expected != body { throw WrongBody() }
                return (response.status.code, body.count)
            }
        }
    }
}

/// A body that is made while it is sent.
private struct Zeros: AsyncSequence, AsyncIteratorProtocol {
    private static let piece = Data(count: 1 << 16)

    /// The number of bytes that are missing.
    var count: Int

    mutating func next() async -> Data? {
        guard count > 0 else { return nil }
        defer { count = Swift.max(0, count - Self.piece.count) }
        return Self.piece.prefix(count)
    }

    func makeAsyncIterator() -> Zeros { self }
}

private struct WrongBody: Error {}

/// Prints the end of a request, and its last event.
private struct Report: Sendable {
    let id: String
    private let begin = ContinuousClock.now
    private let attempts = Attempts()

    init(_ id: String) { self.id = id }

    private final class Attempts: Sendable {
        let count = Atomic(1)
    }

    var monitor: @Sendable (URLClient.Event) -> Void {
        { [id, attempts] event in
            switch event.kind {
            case .retried: attempts.count.add(1, ordering: .relaxed)
            case .finished: Self.print(["finished": .text(id)])
            default: break
            }
        }
    }

    /// Prints the result of a task: its status and the number of bytes, or its error.
    func end<Value>(of task: Task<Value>, _ look: @escaping @Sendable (Value) throws -> (Int, Int)) {
        task.map(look).upon(.immediate) { result in
            let elapsed = begin.duration(to: .now) / .milliseconds(1)
            var line: [String: Field] = [
                "ended": .text(id), "ms": .number(Int(elapsed)),
                "attempts": .number(attempts.count.load(ordering: .relaxed)),
            ]
            switch result {
            case .success((let status, let count)):
                line["status"] = .number(status)
                line["bytes"] = .number(count)
            case .failure(let error):
                line["error"] = .text((error as? URLError).map { "URLError \($0.code.rawValue)" } ?? "\(error)")
            }
            Self.print(line)
        }
    }

    enum Field: Encodable {
        case text(String)
        case number(Int)

        func encode(to encoder: any Encoder) throws {
            var container = encoder.singleValueContainer()
            switch self {
            case .text(let text): try container.encode(text)
            case .number(let number): try container.encode(number)
            }
        }
    }

    static func print(_ line: [String: Field]) {
        guard var bytes = try? JSONEncoder().encode(line) else { return }
        bytes.append(0x0a)
        try? FileHandle.standardOutput.write(contentsOf: bytes)
    }
}
