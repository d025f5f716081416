internal import DeferredCore
import Foundation

/// Queues a stream's bytes for its readers, and the readers for bytes.
///
/// The file is written and read outside of the lock: a slow disk blocks neither the session's queue while a reader
/// reads nor a reader while the queue writes.
final class StreamBuffer: Sendable {
    private typealias Reader = CheckedContinuation<Data?, any Error>

    private struct State {
        var machine: StreamStateMachine
        var file: OverflowFile?
        var trailers: HTTPHeaders = [:]
        var readers: [(identifier: UInt64, reader: Reader)] = []
        var nextIdentifier: UInt64 = 0

        /// Called when ``isFull`` has changed.
        var onChange: (@Sendable () -> Void)?
    }

    private let state: Lock<State>

    /// - Parameter limit: the number of bytes above which the buffer is full; nil for no limit.
    init(memoryLimit: Int, limit: Int? = nil) {
        state = Lock(State(machine: StreamStateMachine(memoryLimit: memoryLimit, limit: limit)))
    }

    convenience init(_ configuration: URLClient.Configuration) {
        self.init(
            memoryLimit: configuration.streamBufferSize,
            limit: configuration.streamBufferLimit ?? ClientEngines.streamBufferLimit(of: configuration)
        )
    }

    /// Holds up an exchange while the buffer is full. A slow reader doesn't count as silence of the server. Must be called
    /// while the buffer is empty.
    func pauseWhenFull(_ exchange: Exchange) {
        let isFull: @Sendable () -> Bool = { [weak self] in self?.isFull ?? false }
        exchange.forgiveSilence(while: isFull)
        state.withLock { $0.onChange = { [weak exchange] in exchange?.pause(while: isFull) } }
    }

    /// True while the sender should pause.
    var isFull: Bool { state.withLock { $0.machine.isFull } }

    /// The number of bytes received but not read yet.
    var waitingCount: Int64 { state.withLock { $0.machine.waitingCount } }

    /// Appends received bytes. Called by one thread at a time, which also calls ``finish(_:)``.
    func append(_ bytes: Data) throws {
        let (offset, file) = update { ($0.machine.append(bytes), $0.file) }
        if let offset {
            let file = try file ?? OverflowFile()
            try file.write(bytes, at: offset)
            update { state in
                state.machine.didWrite(bytes.count, at: offset)
                // A faster reader may have taken the file out of the state, or the whole stream may have been
                // discarded.
                state.file = file
            }
        }
        serve()
    }

    /// Ends the stream, with an error that follows the bytes, or with trailers.
    func finish(_ error: (any Error)?, trailers: HTTPHeaders? = nil) {
        state.withLock { state in
            // A response that is whole stays so when the request's body fails later.
            if !state.machine.hasEnded { state.trailers = trailers ?? [:] }
            state.machine.finish(error)
        }
        serve()
    }

    /// The fields that came behind the bytes.
    var trailers: HTTPHeaders { state.withLock { $0.trailers } }

    /// Discards the bytes, because no reader is left.
    func discard() {
        // The observer retains the exchange, and is released outside of the lock, like the file.
        let onChange = update { state in
            state.machine.discard()
            return state.onChange.take()
        }
        onChange?()
        serve()
    }

    /// Returns the next bytes, or nil at the end.
    func next() async throws -> Data? {
        let identifier = state.withLock { state in
            defer { state.nextIdentifier += 1 }
            return state.nextIdentifier
        }
        return try await withTaskCancellationHandler {
            try await withCheckedThrowingContinuation { continuation in
                let isCancelled = state.withLock { state in
                    // Either this sees the cancellation, or the handler, which takes the lock later, finds the reader.
                    guard !_Concurrency.Task.isCancelled else { return true }
                    state.readers.append((identifier, continuation))
                    return false
                }
                if isCancelled {
                    continuation.resume(throwing: CancellationError())
                } else {
                    serve()
                }
            }
        } onCancel: {
            let reader = state.withLock { state in
                state.readers.firstIndex { $0.identifier == identifier }.map { state.readers.remove(at: $0).reader }
            }
            reader?.resume(throwing: CancellationError())
        }
    }

    /// Gives readers the available bytes, in the order in which they asked.
    private func serve() {
        while let (reader, next, file) = nextStep() {
            switch next {
            case .bytes(let bytes):
                reader.resume(returning: bytes)
            case .end(nil):
                reader.resume(returning: nil)
            case .end(let error?):
                reader.resume(throwing: error)
            case .read(let range):
                guard let file else { preconditionFailure("\(range) of a stream is in no file") }
                let result = Result { () throws(CocoaError) in try file.read(range) }
                update { $0.machine.didRead(result) }
                reader.resume(with: result.map { $0 }.mapError { $0 })
            }
        }
    }

    /// Takes the first reader and its step, if it has one. Also returns the file.
    private func nextStep() -> (Reader, StreamStateMachine.Next, OverflowFile?)? {
        update { state in
            guard !state.readers.isEmpty, let next = state.machine.next() else { return nil }
            return (state.readers.removeFirst().reader, next, state.file)
        }
    }

    /// Changes the state. Afterwards, outside of the lock, closes a file whose contents are no longer needed, and calls
    /// `onChange` if ``isFull`` has changed.
    private func update<Result: Sendable>(_ change: (inout State) -> Result) -> Result {
        let (result, unused, onChange) = state.withLock { state in
            let wasFull = state.machine.isFull
            let result = change(&state)
            let unused = state.machine.isFileEmpty ? state.file.take() : nil
            return (result, unused, state.machine.isFull == wasFull ? nil : state.onChange)
        }
        withExtendedLifetime(unused) {}
        onChange?()
        return result
    }
}
