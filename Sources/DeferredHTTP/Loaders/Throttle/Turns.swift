internal import DeferredCore

/// Runs what would nest one after the other, on the thread where it came up.
final class Turns {
    private static let current = ThreadLocal { Turns() }

    private var pending: [() -> Bool] = []
    private var isRunning = false

    /// Calls `turn` until it returns false: now, or when the calls under way on this thread have returned.
    static func run(_ turn: @escaping () -> Bool) {
        let turns = current.value
        turns.pending.append(turn)
        guard !turns.isRunning else { return }
        turns.isRunning = true
        while let turn = turns.pending.popLast() {
            while turn() {}
        }
        turns.isRunning = false
    }
}
