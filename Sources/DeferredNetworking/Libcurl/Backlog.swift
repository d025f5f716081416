#if os(Linux)
import Synchronization

/// Counts the bytes that an exchange was given and has not processed yet, because another thread is still busy with earlier
/// ones.
struct Backlog: ~Copyable, Sendable {
    private static let most = 256 << 10

    /// Twice the number of bytes, and 1 more while the engine waits for a backlog that is too long. It orders nothing else.
    private let state = Atomic(0)

    /// Returns true if the backlog is too long. The engine then waits until ``remove(_:)`` tells otherwise.
    var isTooLong: Bool {
        var old = state.load(ordering: .relaxed)
        while old & 1 == 0 {
            guard old > 2 * Self.most else { return false }
            let (isDone, found) = state.weakCompareExchange(expected: old, desired: old | 1, ordering: .relaxed)
            if isDone { break }
            old = found
        }
        return true
    }

    /// Counts bytes that are about to be given to the exchange.
    func add(_ bytes: Int) {
        state.wrappingAdd(2 * bytes, ordering: .relaxed)
    }

    /// Counts bytes that the exchange has processed, and returns true, once, if the engine waits and need not any more.
    func remove(_ bytes: Int) -> Bool {
        var old = state.load(ordering: .relaxed)
        while true {
            let rest = old - 2 * bytes
            let isAwaited = rest & 1 == 1 && rest - 1 <= Self.most
            let new = isAwaited ? rest - 1 : rest
            let (isDone, found) = state.weakCompareExchange(expected: old, desired: new, ordering: .relaxed)
            if isDone { return isAwaited }
            old = found
        }
    }
}
#endif
