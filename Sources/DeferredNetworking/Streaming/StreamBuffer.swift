internal import DeferredCore
import Foundation

/// Where a stream's bytes wait for its readers, and its readers for bytes.
///
/// The file is written and read without the lock: a slow disk keeps neither the session's queue waiting for a reader
/// nor a reader for the queue.
final class StreamBuffer: Sendable {
    private typealias Reader = CheckedContinuation<Data?, any Error>

    private struct State {
        var machine: StreamStateMachine
        var file: SpillFile?
        var readers: [(identifier: UInt64, reader: Reader)] = []
        var nextIdentifier: UInt64 = 0

        /// Told when ``isFull`` has changed.
        var onChange: (@Sendable () -> Void)?

        /// The file, when nothing that is in it is of use any longer: to be closed without the lock.
        mutating func takeUnusedFile() -> SpillFile? { machine.isFileEmpty ? file.take() : nil }

        /// Gives the machine an event. Returns whom to tell of a change, without the lock.
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
        case read(Reader, SpillFile, Range<Int64>)
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

    /// Called by one thread at a time, which also calls ``finish(_:)``.
    func append(_ bytes: Data) throws {
        let (offset, file, onChange) = state.withLock { state in
            let (offset, onChange) = state.observing { $0.append(bytes) }
            return (offset, state.file, onChange)
        }
        onChange?()
        if let offset {
            let file = try file ?? SpillFile()
            try file.write(bytes, at: offset)
            let unused = state.withLock { state in
                state.machine.didWrite(bytes.count, at: offset)
                // A reader that was faster than this has let go of it, or the whole stream was thrown away.
                state.file = file
                return state.takeUnusedFile()
            }
            withExtendedLifetime(unused) {}
        }
        serve()
    }

    func finish(_ error: (any Error)?) {
        state.withLock { $0.machine.finish(error) }
        serve()
    }

    /// Nobody reads any more.
    func discard() {
        // Whoever observes retains the transfer, and is let go of without the lock, like the file.
        let (unused, onChange) = state.withLock { state in
            state.machine.discard()
            return (state.takeUnusedFile(), state.onChange.take())
        }
        withExtendedLifetime(unused) {}
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
