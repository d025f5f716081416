internal import DeferredCore
internal import DeferredHTTP
internal import DeferredNetworking
internal import Foundation

/// A body that is stored while it is read, by one reader or by several.
///
/// The reader that is furthest ahead reads from the network, so that its pace is that of the transfer. The others read
/// what is stored. No reader waits for a slower one.
final class SharedBody: Sendable {
    fileprivate struct State {
        /// The positions of the readers that have not left.
        var positions: [Int: Int64] = [:]
        var lastReader = 0
        /// The number of bytes that have arrived.
        var count: Int64 = 0
        /// The last of them, which most readers want next.
        var newest = Data()
        var isReading = false
        /// Set once the response is stored, if it is.
        var end: Result<Void, any Error>?
        /// The bytes that have arrived since storing failed, or what was stored was found damaged; `nil` while all is well.
        var overflow: Overflow?
        /// Filled when there are bytes, or nobody reads from the network.
        var change: Deferred<Void>?

        /// A future for those who wait.
        mutating func nextChange() -> Future<Void> {
            let change = change ?? Deferred()
            self.change = change
            return change.future
        }
    }

    /// Bytes that could not be stored, kept for slower readers: not more than a body may have that several can share.
    fileprivate struct Overflow {
        let start: Int64
        var bytes = Data()
    }

    /// SAFETY: used by the one task that has set `isReading`.
    private final class Source: @unchecked Sendable {
        var iterator: HTTPBodyStream.Iterator
        init(_ iterator: HTTPBodyStream.Iterator) { self.iterator = iterator }
    }

    /// The number of bytes, and the time, for which a transfer goes on after its readers have left: for a body of which
    /// they only wanted to know that it is there.
    private static let largestRest: Int64 = 64 << 10
    private static let patience = Duration.milliseconds(100)
    /// The cache's own place among the readers, for that.
    private static let ownReader = 0

    let head: StoredHead
    private let clock: any Clock<Duration>
    private let stream: WeakStream
    private let source: Source
    private let writer: any BodyWriter
    private let state: Lock<State>
    private let onEnd: @Sendable (_ isLost: Bool) -> Void

    /// - Parameters:
    ///   - stream: The body as it arrives.
    ///   - writer: Stores it; the response with `head` is stored when all of it has arrived, or the part of it that was
    ///     read when its readers have left, if the rest can be asked for.
    ///   - start: The number of bytes that the writer has already, and which come before those of the stream.
    ///   - clock: Measures how long the cache reads on.
    ///   - onEnd: Called once, when nothing more arrives; `isLost` is true if all has arrived, and could not be stored.
    init(
        _ stream: HTTPBodyStream,
        _ head: StoredHead,
        _ writer: any BodyWriter,
        from start: Int64 = 0,
        clock: any Clock<Duration>,
        onEnd: @escaping @Sendable (_ isLost: Bool) -> Void
    ) {
        self.head = head
        self.clock = clock
        self.stream = stream.weak
        self.writer = writer
        self.onEnd = onEnd
        source = Source(stream.makeAsyncIterator())
        state = Lock(State(count: start))
    }

    /// Returns the body for one more reader, from the beginning; `nil` if it can't be had any more.
    ///
    /// - Parameter request: That of the reader. A client and a chain have different errors, also of the body that they share.
    func join(for request: HTTPRequest) -> HTTPBodyStream? {
        let reader = state.withLock { state -> Int? in
            if case .failure = state.end { return nil }
            // After the first, a reader needs the others' bytes.
            guard state.lastReader == 0 || state.overflow == nil && !state.positions.isEmpty else { return nil }
            state.lastReader += 1
            state.positions[state.lastReader] = 0
            return state.lastReader
        }
        return reader.map { reader in
            let pieces = HTTPSequence<Data, any Error> { Iterator(body: self, reader: reader, request: request) }
            return HTTPBodyStream(pieces) { self.leave(reader) }
        }
    }

    private struct Iterator: AsyncIteratorProtocol {
        let body: SharedBody
        let reader: Int
        let request: HTTPRequest

        func next() async throws -> Data? {
            do {
                return try await body.next(reader)
            } catch {
                throw request.error(for: error)
            }
        }
    }

    // MARK: - Reading

    private enum Step {
        case bytes(Data)
        case stored(Range<Int64>)
        case fetch(Future<Void>)
        case wait(Future<Void>)
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
            case .stored(let range):
                if let bytes = writer.read(range) { return bytes }
                // Nobody else is to come, and nothing is to be stored.
                state.withLock { state in
                    if state.overflow == nil { state.overflow = .init(start: state.count) }
                }
                leave(reader)
                throw DamagedBody()
            case .fetch(let change):
                // In a task of its own: a reader that is cancelled leaves the piece to the others.
                _Concurrency.Task { await self.fetch() }
                try await change.get()
            case .wait(let change):
                try await change.get()
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
                var limit = min(position < start ? start : state.count, position + 1 << 16)
                if let overflow = state.overflow, position >= overflow.start {
                    state.positions[reader] = limit
                    let range = Int(position - overflow.start)..<Int(limit - overflow.start)
                    return .bytes(overflow.bytes.subdata(in: range))
                }
                if let overflow = state.overflow { limit = min(limit, overflow.start) }
                state.positions[reader] = limit
                return .stored(position..<limit)
            }
            if let end = state.end { return .end(end) }
            if state.isReading { return .wait(state.nextChange()) }
            state.isReading = true
            return .fetch(state.nextChange())
        }
    }

    private func fetch() async {
        do {
            guard let bytes = try await source.iterator.next() else { return finish(.success(())) }
            let isStored = state.withLock { $0.overflow == nil } && writer.append(bytes)
            // The bytes that it has can still be read.
            if !isStored { writer.discard() }
            let (change, isLeft) = state.withLock { state in
                if !isStored {
                    if state.overflow == nil { state.overflow = .init(start: state.count) }
                    // The only reader gets it as the newest, and needs no copy: whoever is behind asks for no more
                    // until it has all.
                    if state.positions.count > 1 { state.overflow?.bytes += bytes }
                }
                state.count += Int64(bytes.count)
                state.newest = bytes
                state.isReading = false
                return (state.change.take(), state.positions.isEmpty)
            }
            if isLeft { finish(.failure(CancellationError())) }
            change?.fill()
        } catch {
            finish(.failure(error))
        }
    }

    // MARK: - Ending

    /// Called once: by the one that reads from the network, or by the last reader that leaves if nobody does.
    private func finish(_ result: Result<Void, any Error>) {
        let (isStored, count, isLeft) = state.withLock { state in
            state.isReading = true
            return (state.overflow == nil, state.count, state.positions.isEmpty)
        }
        let stored =
            switch result {
            case .success: head.completed(by: count)
            case .failure: isLeft ? head.beginning(count) : nil
            }
        if let stored, isStored { writer.commit(stored) } else { writer.discard() }
        onEnd(stored != nil && !isStored && !isLeft)
        let change = state.withLock { state in
            (state.end, state.isReading) = (result, false)
            return state.change.take()
        }
        change?.fill()
    }

    private enum Leaving {
        case othersStay
        case readsOn
        /// `isReading` is true if a piece is on its way, after which the body ends.
        case ends(isReading: Bool)
    }

    /// Gives up a reader's place; after the last one, the transfer is of no use, unless little is missing.
    private func leave(_ reader: Int) {
        let leaving = state.withLock { state -> Leaving in
            let wasThere = state.positions.removeValue(forKey: reader) != nil
            guard wasThere, state.positions.isEmpty, state.end == nil else { return .othersStay }
            if reader != Self.ownReader, state.overflow == nil, let length = head.announcedLength,
                length - state.count <= Self.largestRest
            {
                state.positions[Self.ownReader] = state.count
                return .readsOn
            }
            return .ends(isReading: state.isReading)
        }
        switch leaving {
        case .othersStay:
            break
        case .readsOn:
            readOn()
        case .ends(let isReading):
            stream.cancel()
            if !isReading { finish(.failure(CancellationError())) }
        }
    }

    /// Reads the rest, if it comes soon.
    private func readOn() {
        _Concurrency.Task {
            await self.forAMoment { do { while try await self.next(Self.ownReader) != nil {} } catch {} }
            self.leave(Self.ownReader)
        }
    }

    /// Reads `stream`, which is one of this body, for somebody who wants it when all of it is stored.
    ///
    /// Of a body of unknown length, nobody knows whether it will fit, or whether it ends. So it is read for a moment, and no
    /// further than it is stored: what slower readers would need of it after that had to be kept in memory.
    func read(_ stream: HTTPBodyStream) async {
        let isBounded = head.announcedLength != nil
        let reading: @Sendable () async -> Void = {
            do {
                for try await _ in stream where !isBounded && self.state.withLock({ $0.overflow != nil }) { break }
            } catch {}
        }
        if isBounded { return await reading() }
        await forAMoment(reading)
        stream.cancel()
    }

    private func forAMoment(_ body: @escaping @Sendable () async -> Void) async {
        let clock = clock
        await withTaskGroup(of: Void.self) { group in
            group.addTask { await body() }
            group.addTask { try? await clock.sleep(for: Self.patience) }
            await group.next()
            group.cancelAll()
        }
    }
}
