#if DEBUG
internal import Synchronization

/// Lets a test decide which of its threads takes the next atomic step. Debug builds only.
package enum Interleaving {
    /// What a thread is about to do to a word.
    package enum Operation: Sendable {
        case load
        /// Any operation that may change it, or what it guards.
        case update
        /// Nothing, until another thread has changed it.
        case block
        /// It goes out of existence.
        case end
    }

    package typealias Hook = (_ operation: Operation, _ address: UInt) -> Void

    private static let count = Atomic(0)
    private static let slot = ThreadLocal { Slot() }

    /// Calls `hook` before each atomic step that this thread takes in `body`.
    package static func stepping(_ hook: @escaping Hook, _ body: () -> Void) {
        count.add(1, ordering: .relaxed)
        slot.value.hook = hook
        body()
        slot.value.hook = nil
        count.subtract(1, ordering: .relaxed)
    }

    /// Calls `body` as if nobody stepped this thread.
    package static func notStepping<Result>(_ body: () -> Result) -> Result {
        let hook = slot.value.hook
        slot.value.hook = nil
        defer { slot.value.hook = hook }
        return body()
    }

    /// False if nobody steps this thread.
    @discardableResult
    static func step(_ operation: Operation, _ address: UInt) -> Bool {
        guard count.load(ordering: .relaxed) > 0, let hook = slot.value.hook else { return false }
        hook(operation, address)
        return true
    }

    private final class Slot {
        var hook: Hook?
    }
}
#endif
