internal import CDeferred

/// A reference to a future that does not keep it.
///
/// A weak one would cost more than the rest of a task: it allocates, and each reference to its object that comes and goes
/// from then on takes a detour.
///
/// SAFETY: `memory` keeps the memory of the object, whose words stay as they are when it goes. Without a strong reference,
/// only atomic words are read.
@usableFromInline
package struct UnownedFuture: Sendable {
    @usableFromInline unowned let memory: FutureNode
    @usableFromInline let node: Unmanaged<FutureNode>

    @inlinable
    package init(_ future: __shared FutureNode) {
        memory = future
        node = .passUnretained(future)
    }

    /// Whether it is filled, or was when it went.
    @inlinable
    package var isFinished: Bool { node._withUnsafeGuaranteedRef { $0.isFinished } }

    /// Whether one that is filled may be so with the failure of a `Result`.
    package var mayHaveFailed: Bool { node._withUnsafeGuaranteedRef { $0.mayHaveFailed } }

    /// Has `object` told of the end; false if that has come, or never will.
    package func attach(_ object: AnyObject) -> Bool { strong?.attach(object) ?? false }

    /// Ends it at once, if it is an operator's result whose closure has not begun.
    package func abandon() { strong?.abandon() }

    /// The future, unless it is going.
    private var strong: FutureNode? {
        deferred_try_retain(node.toOpaque()).map { Unmanaged<FutureNode>.fromOpaque($0).takeRetainedValue() }
    }
}
