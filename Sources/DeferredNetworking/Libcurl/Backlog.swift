#if os(Linux)
internal import DeferredCore

/// Counts the bytes that a transfer was given and has not processed yet, because another thread is still busy with earlier
/// ones.
final class Backlog: Sendable {
    private static let most = 256 << 10

    /// `isAwaited` is true while the engine waits for a backlog that is too long.
    private let state = Lock<(count: Int, isAwaited: Bool)>((0, false))

    /// Returns true if the backlog is too long. The engine then waits until ``remove(_:)`` tells otherwise.
    var isTooLong: Bool {
        state.withLock { state in
            if state.count > Self.most { state.isAwaited = true }
            return state.isAwaited
        }
    }

    /// Counts bytes that are about to be given to the transfer.
    func add(_ bytes: Int) {
        state.withLock { $0.count += bytes }
    }

    /// Counts bytes that the transfer has processed, and returns true, once, if the engine waits and need not any more.
    func remove(_ bytes: Int) -> Bool {
        state.withLock { state in
            state.count -= bytes
            guard state.isAwaited, state.count <= Self.most / 2 else { return false }
            state.isAwaited = false
            return true
        }
    }
}
#endif
