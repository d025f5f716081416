internal import DeferredCore

/// Runs re-entrant work in a loop instead of recursively, on the thread that submits it.
final class Turns {
    private static let current = ThreadLocal { Turns() }

    private var pending: [() -> Bool] = []
    private var isRunning = false

    /// Calls `turn` until it returns false: now, or when the calls under way on this thread have returned.
    static func run(_ turn: @escaping () -> Bool) {
        current.value.pending.append(turn)
        hold {}
    }

    /// Calls `body` now, and afterwards the turns that it has submitted.
    static func hold(_ body: () -> Void) {
        let turns = current.value
        let isNested = turns.isRunning
        turns.isRunning = true
        body()
        if isNested { return }
        while let turn = turns.pending.popLast() {
            while turn() {}
        }
        turns.isRunning = false
    }
}
