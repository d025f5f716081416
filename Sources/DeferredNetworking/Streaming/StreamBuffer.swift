internal import DeferredCore
import Foundation

/// Where a stream's bytes wait for its readers, and its readers for bytes.
final class StreamBuffer: Sendable {
    private typealias Reader = CheckedContinuation<Data?, any Error>

    private struct State: ~Copyable {
        var machine: StreamStateMachine
        var readers: [(identifier: UInt64, reader: Reader)] = []
        var nextIdentifier: UInt64 = 0
    }

    private let state: Lock<State>

    init(memoryLimit: Int) {
        state = Lock(State(machine: StreamStateMachine(memoryLimit: memoryLimit)))
    }

    func append(_ bytes: Data) throws {
        try state.withLock { state in try state.machine.append(bytes) }
        serve()
    }

    func finish(_ error: (any Error)?) {
        state.withLock { $0.machine.finish(error) }
        serve()
    }

    /// Nobody reads any more.
    func discard() {
        state.withLock { $0.machine.discard() }
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
        while let (reader, result) = nextDelivery() {
            reader.resume(with: result)
        }
    }

    private func nextDelivery() -> (Reader, Result<Data?, any Error>)? {
        state.withLock { state in
            guard !state.readers.isEmpty else { return nil }
            switch state.machine.next() {
            case .wait: return nil
            case .bytes(let bytes): return (state.readers.removeFirst().reader, .success(bytes))
            case .end(let error):
                return (state.readers.removeFirst().reader, error.map { .failure($0) } ?? .success(nil))
            }
        }
    }
}
