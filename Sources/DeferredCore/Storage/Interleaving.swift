#if DEBUG
internal import Synchronization

/// Lets a test decide which of its threads takes the next atomic step. Debug builds only.
@usableFromInline
package enum Interleaving {
    /// The operation that a thread is about to perform on a word.
    @usableFromInline
    package enum Operation: Sendable {
        case load
        /// Any operation that may change the word, or the memory it guards.
        case update
        /// A wait until another thread has changed the word.
        case block
        /// The end of the word's lifetime.
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

    /// Calls `body` without stepping this thread.
    package static func notStepping<Result>(_ body: () -> Result) -> Result {
        let hook = slot.value.hook
        slot.value.hook = nil
        defer { slot.value.hook = hook }
        return body()
    }

    /// Calls this thread's hook; false if no test steps this thread.
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
