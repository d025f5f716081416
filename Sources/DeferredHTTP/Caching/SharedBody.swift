internal import DeferredCore
internal import DeferredNetworking
internal import Foundation

/// A body that is stored while it is read, by one reader or by several.
///
/// The reader that is furthest ahead reads from the network, so that its pace is that of the transfer. The others read
/// what is stored. No reader waits for a slower one.
final class SharedBody: Sendable {
    typealias Waiter = CheckedContinuation<Void, Never>

    fileprivate struct State {
        /// The positions of the readers that have not left.
        var positions: [Int: Int64] = [:]
        var lastReader = 0
        /// The number of bytes that have arrived.
        var count: Int64 = 0
        /// The last of them, which most readers want next.
        var newest = Data()
        var isReading = false
        /// The end, and the end as readers see it: not before the response is stored.
        var decidedEnd: Result<Void, any Error>?
        var end: Result<Void, any Error>?
        var writer: (any BodyWriter)?
        var waiters: [Int: Waiter] = [:]
        var lastWaiter = 0
    }

    /// SAFETY: used by the one task that has set `isReading`.
    private final class Source: @unchecked Sendable {
        var iterator: HTTPBodyStream.Iterator
        init(_ iterator: HTTPBodyStream.Iterator) { self.iterator = iterator }
    }

    let head: StoredHead
    private let stream: WeakStream
    private let source: Source
    private let state: Lock<State>
    private let onEnd: @Sendable () -> Void

    /// - Parameters:
    ///   - stream: The body as it arrives.
    ///   - writer: Stores it; the response with `head` is stored when all of it has arrived.
    ///   - onEnd: Called once, when nothing more arrives.
    init(
        _ stream: HTTPBodyStream,
        _ head: StoredHead,
        _ writer: any BodyWriter,
        onEnd: @escaping @Sendable () -> Void
    ) {
        (self.head, self.onEnd, self.stream) = (head, onEnd, stream.weak)
        source = Source(stream.makeAsyncIterator())
        state = Lock(State(writer: writer))
    }

    /// True if several readers can share the body: it will fit.
    static func canShare(_ head: StoredHead, upTo limit: Int64) -> Bool {
        guard head.headers["Content-Encoding"] == nil, let field = head.headers["Content-Length"],
            let length = HTTPNumber.parse(field)
        else { return false }
        return length <= limit
    }

    /// Returns the body for one more reader, from the beginning; `nil` if it can't be had any more.
    func join() -> HTTPBodyStream? {
        let reader = state.withLock { state -> Int? in
            if case .failure = state.decidedEnd { return nil }
            // After the first, a reader needs the others' bytes.
            guard state.lastReader == 0 || state.writer != nil && !state.positions.isEmpty else { return nil }
            state.lastReader += 1
            state.positions[state.lastReader] = 0
            return state.lastReader
        }
        return reader.map { reader in
            HTTPBodyStream(Pieces(body: self, reader: reader)) { self.leave(reader) }
        }
    }

    private struct Pieces: AsyncSequence, Sendable {
        typealias Element = Data
        let body: SharedBody
        let reader: Int
        func makeAsyncIterator() -> Iterator { Iterator(body: body, reader: reader) }

        struct Iterator: AsyncIteratorProtocol {
            let body: SharedBody
            let reader: Int
            func next() async throws -> Data? { try await body.next(reader) }
        }
    }

    // MARK: - Reading

    private enum Step {
        case bytes(Data)
        case stored(Range<Int64>, any BodyWriter)
        case fetch
        case wait
        case end(Result<Void, any Error>)
    }

    private func next(_ reader: Int) async throws -> Data? {
        while true {
            switch step(reader) {
            case .bytes(let bytes):
                return bytes
            case .end(let result):
                try result.get()
                return nil
            case .stored(let range, let writer):
                guard let bytes = writer.read(range) else { throw Unreadable() }
                return bytes
            case .fetch:
                // In a task of its own: a reader that is cancelled leaves the piece to the others.
                _Concurrency.Task { await self.fetch() }
                try await wait()
            case .wait:
                try await wait()
            }
        }
    }

    private func step(_ reader: Int) -> Step {
        state.withLock { state in
            guard let position = state.positions[reader] else { return .end(.failure(CancellationError())) }
            if position < state.count {
                let start = state.count - Int64(state.newest.count)
                if position == start {
                    state.positions[reader] = state.count
                    return .bytes(state.newest)
                }
                guard let writer = state.writer else { return .end(.failure(Unreadable())) }
                let end = min(position < start ? start : state.count, position + 1 << 16)
                state.positions[reader] = end
                return .stored(position..<end, writer)
            }
            if let end = state.end { return .end(end) }
            if state.isReading { return .wait }
            state.isReading = true
            return .fetch
        }
    }

    private func fetch() async {
        do {
            guard let bytes = try await source.iterator.next() else { return finish(.success(())) }
            let writer = state.withLock { $0.writer }
            let isStored = writer?.append(bytes) ?? true
            if !isStored { writer?.discard() }
            let (waiters, gone) = state.withLock { state in
                state.count += Int64(bytes.count)
                state.newest = bytes
                state.isReading = false
                return (state.takeWaiters(), isStored ? nil : state.writer.take())
            }
            withExtendedLifetime(gone) {}
            for waiter in waiters { waiter.resume() }
        } catch {
            finish(.failure(error))
        }
    }

    /// Waits until there are bytes, or nobody reads from the network.
    private func wait() async throws {
        let number = state.withLock { state in
            state.lastWaiter += 1
            return state.lastWaiter
        }
        await withTaskCancellationHandler {
            await withCheckedContinuation { (waiter: Waiter) in
                let isOver = state.withLock { state in
                    guard state.isReading, state.end == nil, !_Concurrency.Task.isCancelled else { return true }
                    state.waiters[number] = waiter
                    return false
                }
                if isOver { waiter.resume() }
            }
        } onCancel: {
            state.withLock { $0.waiters.removeValue(forKey: number) }?.resume()
        }
        try _Concurrency.Task.checkCancellation()
    }

    // MARK: - Ending

    private func finish(_ result: Result<Void, any Error>) {
        let (isFirst, writer, count) = state.withLock { state in
            let isFirst = state.decidedEnd == nil
            if isFirst { (state.decidedEnd, state.isReading) = (result, true) }
            return (isFirst, state.writer, state.count)
        }
        if isFirst {
            if case .success = result, let head = head.completed(by: count) {
                writer?.commit(head)
            } else {
                writer?.discard()
            }
            onEnd()
        }
        let waiters = state.withLock { state in
            if isFirst { state.end = result }
            state.isReading = false
            return state.takeWaiters()
        }
        for waiter in waiters { waiter.resume() }
    }

    /// Gives up a reader's place; after the last one, the transfer is of no use.
    private func leave(_ reader: Int) {
        let isLast = state.withLock { state in
            state.positions[reader] = nil
            return state.positions.isEmpty && state.end == nil
        }
        guard isLast else { return }
        stream.cancel()
        finish(.failure(CancellationError()))
    }

    /// The underlying error when bytes that were stored can't be read again.
    private struct Unreadable: Error, CustomStringConvertible {
        var description: String { "the body could not be stored for a second reader" }
    }
}

extension SharedBody.State {
    fileprivate mutating func takeWaiters() -> [SharedBody.Waiter] {
        defer { waiters = [:] }
        return Array(waiters.values)
    }
}
