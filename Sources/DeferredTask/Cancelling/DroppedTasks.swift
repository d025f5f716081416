internal import DeferredCore

/// Frees tasks that nobody wants any more, one after the other.
///
/// The end of a task can be the end of its children. Were they freed within it, and theirs within them, then a recursive
/// `flatMap` of 100,000 turns would overflow the stack.
final class DroppedTasks {
    private static let current = ThreadLocal { DroppedTasks() }

    private var waiting: [TaskControl] = []
    private var isFreeing = false

    /// Takes the references over, so that none is left with the caller.
    static func free(_ controls: inout [TaskControl]) {
        guard !controls.isEmpty else { return }
        let dropped = current.value
        while let control = controls.popLast() { dropped.waiting.append(control) }
        guard !dropped.isFreeing else { return }
        dropped.isFreeing = true
        while let control = dropped.waiting.popLast() { withExtendedLifetime(control) {} }
        dropped.isFreeing = false
    }
}
