import AsyncHTTPClient
import Deferred
import Foundation
import NIOCore
import NIOFoundationCompat
import Synchronization

/// Reads the body of a response for an `HTTPBodyStream`, at the reader's pace.
///
/// async-http-client stops a transfer when the iterator of its body goes.
final class BodyReader: AsyncSequence, AsyncIteratorProtocol, Sendable {
    private enum State {
        case idle(Cursor)
        case reading
        /// With what was thrown, if it was not the end of the body.
        case ended((any Error)?)
    }

    /// SAFETY: belongs to the one who has taken it out of the state.
    private final class Cursor: @unchecked Sendable {
        var iterator: HTTPClientResponse.Body.AsyncIterator

        init(_ iterator: HTTPClientResponse.Body.AsyncIterator) {
            self.iterator = iterator
        }
    }

    private let state: Mutex<State>
    private let request: HTTPRequest

    init(_ body: HTTPClientResponse.Body, of request: HTTPRequest) {
        state = Mutex(.idle(Cursor(body.makeAsyncIterator())))
        self.request = request
    }

    /// The next bytes, or `nil` at the end.
    ///
    /// - Throws: `CancellationError` when the reader was cancelled, which ends the transfer, and an `HTTPError`
    ///   otherwise. Whatever it is, it is thrown from then on.
    func next() async throws -> Data? {
        guard let cursor = try take() else { return nil }
        do {
            let buffer = try await next(cursor)
            try put(back: buffer.map { _ in cursor })
            return buffer.map { Data(buffer: $0) }
        } catch {
            let error =
                error is CancellationError ? error : HTTPError(.init(error), request: request, underlying: error)
            end(with: error)
            throw error
        }
    }

    func makeAsyncIterator() -> BodyReader { self }

    /// Stops the transfer.
    func stop() { end(with: CancellationError()) }

    private func next(_ cursor: Cursor) async throws -> ByteBuffer? {
        guard let limit = request.timeout else { return try await cursor.iterator.next() }
        return try await Task { try await cursor.iterator.next() }.timeout(after: limit).get()
    }

    private func take() throws -> Cursor? {
        try state.withLock { state in
            switch state {
            case .idle(let cursor):
                state = .reading
                return cursor
            case .reading:
                throw HTTPError(.unknown, request: request, underlying: TwoReaders())
            case .ended(let error?):
                throw error
            case .ended(nil):
                return nil
            }
        }
    }

    /// - Parameter cursor: `nil` at the end of the body.
    private func put(back cursor: Cursor?) throws {
        try state.withLock { state in
            if case .ended(let error?) = state { throw error }
            state = cursor.map { .idle($0) } ?? .ended(nil)
        }
    }

    private func end(with error: any Error) {
        // Let go of outside of the lock: that stops the transfer.
        let before = state.withLock { state in
            defer { if case .ended = state {} else { state = .ended(error) } }
            return state
        }
        withExtendedLifetime(before) {}
    }

    private struct TwoReaders: Error, CustomStringConvertible {
        var description: String { "two readers wait for the next bytes of the same body" }
    }
}
