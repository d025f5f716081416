internal import CDeferred
internal import Synchronization

/// A reference to a future that does not keep it.
///
/// A weak one would cost more than the rest of a task: it allocates, and each reference to its object that comes and goes
/// from then on takes a detour.
///
/// SAFETY: `memory` keeps the memory of the object, whose atomic words stay as they are when it goes. Where there may be no
/// object left, only those are read, by their addresses: even a reference that comes and goes at once is one too many for
/// an object that is being destroyed.
@usableFromInline
package struct UnownedFuture: @unchecked Sendable {
    /// The words of a future that can be read when it is gone.
    struct Words {
        let state: UnsafePointer<AtomicWord>

        /// That of its attachment, which notes failures, if it has one.
        let attachment: UnsafePointer<AtomicWord>?

        init(state: UnsafePointer<AtomicWord>, attachment: UnsafePointer<AtomicWord>? = nil) {
            self.state = state
            self.attachment = attachment
        }
    }

    private unowned let memory: FutureNode
    private let node: Unmanaged<FutureNode>
    private let words: Words

    package init(_ future: __shared FutureNode) {
        memory = future
        node = .passUnretained(future)
        words = future.words
    }

    /// Whether it is filled, or was when it went.
    package var isFinished: Bool {
        // Pairs with the release in `StateWord.publish`.
        words.state.pointee.load(ordering: .acquiring) & StateWord.filled != 0
    }

    /// Whether one that is filled may be so with the failure of a `Result`.
    package var mayHaveFailed: Bool {
        guard let word = words.attachment else { return true }
        return word.pointee.load(ordering: .relaxed) & Attachment.failed != 0
    }

    /// Has `object` told of the end; false if that has come, or never will.
    package func attach(_ object: AnyObject) -> Bool { strong?.attach(object) ?? false }

    /// Ends it at once, if it is an operator's result whose closure has not begun.
    package func abandon() { strong?.abandon() }

    /// The future, unless it is going.
    private var strong: FutureNode? {
        deferred_try_retain(node.toOpaque()).map { Unmanaged<FutureNode>.fromOpaque($0).takeRetainedValue() }
    }
}
