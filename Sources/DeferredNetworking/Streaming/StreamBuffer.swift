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

        /// Removes and returns the file if its contents are no longer needed. It has to be closed outside of the lock.
        mutating func takeUnusedFile() -> OverflowFile? { machine.isFileEmpty ? file.take() : nil }

        /// Feeds the machine an event. Also returns `onChange` if ``isFull`` has changed, to be called outside of the
        /// lock.
        mutating func observing<Result>(
            _ event: (inout StreamStateMachine) -> Result
        ) -> (Result, onChange: (@Sendable () -> Void)?) {
            let wasFull = machine.isFull
            let result = event(&machine)
            return (result, machine.isFull == wasFull ? nil : onChange)
        }
    }

    private enum Step {
        case resume(Reader, Result<Data?, any Error>)
        case read(Reader, OverflowFile, Range<Int64>)
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
        observeFullness { [weak exchange] in exchange?.pause(while: isFull) }
    }

    /// True while the sender should pause.
    var isFull: Bool { state.withLock { $0.machine.isFull } }

    /// The number of bytes received but not read yet.
    var waitingCount: Int64 { state.withLock { $0.machine.waitingCount } }

    /// Sets a closure to call whenever ``isFull`` changes. Must be called while the buffer is empty.
    func observeFullness(_ onChange: @escaping @Sendable () -> Void) {
        state.withLock { $0.onChange = onChange }
    }

    /// Appends received bytes. Called by one thread at a time, which also calls ``finish(_:)``.
    func append(_ bytes: Data) throws {
        let (offset, file, onChange) = state.withLock { state in
            let (offset, onChange) = state.observing { $0.append(bytes) }
            return (offset, state.file, onChange)
        }
        onChange?()
        if let offset {
            let file = try file ?? OverflowFile()
            try file.write(bytes, at: offset)
            let unused = state.withLock { state in
                state.machine.didWrite(bytes.count, at: offset)
                // A faster reader may have taken the file out of the state, or the whole stream may have been
                // discarded.
                state.file = file
                return state.takeUnusedFile()
            }
            withExtendedLifetime(unused) {}
        }
        serve()
    }

    /// Ends the stream, with an error that follows the bytes, or with trailers.
    func finish(_ error: (any Error)?, trailers: HTTPHeaders? = nil) {
        state.withLock { state in
            state.trailers = trailers ?? [:]
            state.machine.finish(error)
        }
        serve()
    }

    /// The fields that came behind the bytes.
    var trailers: HTTPHeaders { state.withLock { $0.trailers } }

    /// Discards the bytes, because no reader is left.
    func discard() {
        // The observer retains the exchange, and is released outside of the lock, like the file.
        let (unused, onChange) = state.withLock { state in
            state.machine.discard()
            return (state.takeUnusedFile(), state.onChange.take())
        }
        withExtendedLifetime(unused) {}
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
        while let (step, onChange) = nextStep() {
            onChange?()
            switch step {
            case .resume(let reader, let result):
                reader.resume(with: result)
            case .read(let reader, let file, let range):
                let result = Result { () throws(CocoaError) in try file.read(range) }
                let (unused, onChange) = state.withLock { state in
                    let ((), onChange) = state.observing { $0.didRead(result) }
                    return (state.takeUnusedFile(), onChange)
                }
                withExtendedLifetime(unused) {}
                onChange?()
                reader.resume(with: result.map { $0 }.mapError { $0 })
            }
        }
    }

    private func nextStep() -> (Step, onChange: (@Sendable () -> Void)?)? {
        state.withLock { state in
            guard !state.readers.isEmpty else { return nil }
            let (next, onChange) = state.observing { $0.next() }
            switch next {
            case .wait:
                return nil
            case .bytes(let bytes):
                return (.resume(state.readers.removeFirst().reader, .success(bytes)), onChange)
            case .read(let range):
                guard let file = state.file else { preconditionFailure("\(range) of a stream is in no file") }
                return (.read(state.readers.removeFirst().reader, file, range), onChange)
            case .end(let error):
                let result: Result<Data?, any Error> = error.map { .failure($0) } ?? .success(nil)
                return (.resume(state.readers.removeFirst().reader, result), onChange)
            }
        }
    }
}
