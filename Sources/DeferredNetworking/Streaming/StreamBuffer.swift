internal import DeferredCore
import Foundation

/// Where a stream's bytes wait for its readers, and its readers for bytes.
final class StreamBuffer: Sendable {
    private typealias Reader = CheckedContinuation<Data?, any Error>

    private struct State: ~Copyable {
        var machine: StreamStateMachine
        var readers: [(identifier: UInt64, reader: Reader)] = []
        var nextIdentifier: UInt64 = 0

        /// Told when ``isFull`` has changed.
        var onChange: (@Sendable () -> Void)?
    }

    private let state: Lock<State>

    /// - Parameter limit: how much may wait before the buffer is full; nil for any amount.
    init(memoryLimit: Int, limit: Int? = nil) {
        state = Lock(State(machine: StreamStateMachine(memoryLimit: memoryLimit, limit: limit)))
    }

    /// Whether the sender is to be held up.
    var isFull: Bool { state.withLock { $0.machine.isFull } }

    /// Bytes that came and were not read yet.
    var waitingCount: Int64 { state.withLock { $0.machine.waitingCount } }

    /// Has `onChange` called whenever ``isFull`` changes. For an empty buffer.
    func observeFullness(_ onChange: @escaping @Sendable () -> Void) {
        state.withLock { $0.onChange = onChange }
    }

    func append(_ bytes: Data) throws {
        let onChange = try state.withLock { state -> (@Sendable () -> Void)? in
            let wasFull = state.machine.isFull
            try state.machine.append(bytes)
            return state.machine.isFull == wasFull ? nil : state.onChange
        }
        onChange?()
        serve()
    }

    func finish(_ error: (any Error)?) {
        state.withLock { $0.machine.finish(error) }
        serve()
    }

    /// Nobody reads any more.
    func discard() {
        // Whoever observes retains the transfer, and is let go of without the lock.
        let onChange = state.withLock { state in
            state.machine.discard()
            return state.onChange.take()
        }
        onChange?()
        serve()
    }

    /// The next bytes, or nil at the end.
    func next() async throws -> Data? {
        let identifier = state.withLock { state in
            defer { state.nextIdentifier += 1 }
            return state.nextIdentifier
        }
        return try await withTaskCancellationHandler {
            try await withCheckedThrowingContinuation { continuation in
                let isCancelled = state.withLock { state in
                    // Either this sees the cancellation, or its handler, which takes the lock afterwards, finds the reader.
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

    /// Gives the readers what there is, the first of them first.
    private func serve() {
        while let (reader, result, onChange) = nextDelivery() {
            onChange?()
            reader.resume(with: result)
        }
    }

    private func nextDelivery() -> (Reader, Result<Data?, any Error>, onChange: (@Sendable () -> Void)?)? {
        state.withLock { state in
            guard !state.readers.isEmpty else { return nil }
            let wasFull = state.machine.isFull
            switch state.machine.next() {
            case .wait: return nil
            case .bytes(let bytes):
                let onChange = state.machine.isFull == wasFull ? nil : state.onChange
                return (state.readers.removeFirst().reader, .success(bytes), onChange)
            case .end(let error):
                return (state.readers.removeFirst().reader, error.map { .failure($0) } ?? .success(nil), nil)
            }
        }
    }
}
