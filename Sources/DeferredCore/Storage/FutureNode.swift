/// The state of a future, whatever its value: the base class of ``FutureStorage``.
///
/// It isn't generic, so that handlers leave, join and move between futures without dynamic dispatch.
///
/// SAFETY: the property it adds to `HandlerNode` is atomic; `origin` is set before the future is shared.
@_fixed_layout
@usableFromInline
package class FutureNode: HandlerNode, @unchecked Sendable {
    @usableFromInline final let word: StateWord
    #if DEBUG
    /// The report of the future if it is dropped, with where it was created; `nil` for an operator's result, which is
    /// never reported.
    @usableFromInline final var origin: DeferredDiagnostics.Unfilled?
    #endif

    @inlinable
    init(_ membership: consuming Membership, _ word: consuming StateWord) {
        self.word = word
        super.init(membership)
    }

    /// True if the future is filled.
    @inlinable
    package final var isFinished: Bool { word.isFilled }

    /// True while a handler waits. Exact only while no other thread registers or cancels.
    @inlinable
    package final var hasHandlers: Bool { word.hasHandlers }

    /// The attachment of an operator's result, or of a future that has a producer; `nil` for other futures.
    @usableFromInline
    package var attachmentAddress: UnsafePointer<Attachment>? { nil }

    /// The Swift task that fills the future, or the attached object, if that may know the priority of the work for it.
    ///
    /// Of no type: to look whether it is ``PriorityEscalating`` takes longer than all else that an await does.
    @usableFromInline
    package var producer: Any? { nil }

    /// Ends the future at once, if it is an operator's result whose closure has not begun.
    @usableFromInline
    package func abandon() {}

    /// Adds a node that waits for this future; false if it is filled.
    @inlinable
    package final func add(_ node: HandlerNode) -> Bool { give(.passRetained(node)) }

    /// Adds a node with a reference to it, which is released if this future is filled; false in that case.
    ///
    /// For nodes that the caller has no use for: retaining such a node takes `zip` and `value` 3 % more instructions.
    @inlinable
    @inline(__always)
    final func give(_ node: Unmanaged<HandlerNode>) -> Bool {
        if word.push(node) { return true }
        node.release()
        return false
    }

    /// Runs the handlers that `publish` returned, and those of all futures they fill.
    @inlinable
    final func runHandlers(_ handlers: consuming List) {
        if !handlers.isEmpty { Trampoline.run(handlers, of: self) }
    }

    /// Frees the handlers, present and future, since there will be no value.
    @usableFromInline
    final func dropHandlers() {
        // Orphaned, not filled: an `UnownedFuture` may still read the word.
        let handlers = word.orphan()
        #if DEBUG
        if let origin, handlers.hasUsers { DeferredDiagnostics.unfilledHandler(origin) }
        #endif
        handlers.drop()
    }
}
