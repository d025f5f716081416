/// A future's value and its waiting handlers.
///
/// SAFETY: `slot` is written once, by the winner of `word.claim()` or by the only writer, before `word.publish()`
/// releases it; it is read only after `word.isFilled` acquired it.
@usableFromInline
package class FutureStorage<Value: Sendable>: FutureNode, @unchecked Sendable {
    @usableFromInline final let word: StateWord
    @exclusivity(unchecked)
    @usableFromInline final var slot = Slot()
    #if DEBUG
    /// The source location that created the future; `nil` for an operator's result, which is never reported.
    @usableFromInline final var origin: DeferredDiagnostics.Origin?
    #endif

    @inlinable
    package convenience init() {
        self.init(.permanent())
    }

    /// - Parameter membership: The membership of storage that waits for another future.
    @inlinable
    override init(_ membership: consuming Membership) {
        word = StateWord(filled: false)
        super.init(membership)
    }

    @inlinable
    package init(filledWith value: consuming Value) {
        word = StateWord(filled: true, isTrivial: Slot.isTrivial(Value.self))
        super.init(.permanent())
        slot.put(value)
    }

    @inlinable
    deinit {
        switch word.remains {
        case .nothing: break
        case .value: freeValue()
        case .handlers: dropHandlers()
        }
    }

    /// Frees the value, which may contain the last reference to another future, and so on.
    @inlinable
    @inline(__always)
    final func freeValue() {
        // Not only where the future was filled, which may not know: even unspecialised code can check this at no cost.
        if Slot.isTrivial(Value.self) { return }
        if Trampoline.beginFreeing() {
            slot.drop(Value.self)
            Trampoline.endFreeing()
        } else {
            freeNestedValue()
        }
    }

    /// Separate, since it needs memory for the value on the stack.
    @usableFromInline
    @inline(never)
    final func freeNestedValue() {
        Trampoline.free(slot.take(Value.self))
    }

    /// True while a handler waits. Exact only while no other thread registers or cancels.
    @inlinable
    package final var hasHandlers: Bool { word.hasHandlers }

    /// Returns the value; `nil` if unfilled.
    @inlinable
    package final func peek() -> Value? {
        word.isFilled ? value : nil
    }

    /// True if the future is filled, for callers outside of the package: runs work that this thread has put off first,
    /// so that they can't observe the delay.
    @inlinable
    package final var isFilledForAll: Bool {
        if word.isFilled { return true }
        return Trampoline.isBehind && isFilledAfterCatchingUp
    }

    @usableFromInline
    final var isFilledAfterCatchingUp: Bool {
        Trampoline.catchUp(beforeReading: { word.isFilled })
        return word.isFilled
    }

    /// Returns the value, for callers outside of the package; `nil` if unfilled.
    @inlinable
    package final func look() -> Value? {
        isFilledForAll ? value : nil
    }

    /// The value of a future known to be filled.
    @inlinable
    final var value: Value {
        slot.pointer(to: Value.self).pointee
    }

    /// Fills the future, unless it is filled, and runs the handlers.
    ///
    /// - Parameter isTrivial: True if nothing has to be done to free the value.
    @inlinable
    package final func fill(with value: consuming Value, isTrivial: Bool = Slot.isTrivial(Value.self)) -> Bool {
        guard word.claim() else {
            word.waitUntilFilled()
            return false
        }
        slot.put(value)
        runHandlers(word.publish(isTrivial: isTrivial).reversed())
        return true
    }

    /// Wins the right to fill, for a producer that has to know before it has the value.
    @inlinable
    package final func claim() -> Bool { word.claim() }

    /// Fills the future, and runs the handlers. For the winner of `claim`, or the only writer.
    @inlinable
    package final func fulfil(with value: consuming Value) {
        slot.put(value)
        runHandlers(word.publish(isTrivial: Slot.isTrivial(Value.self)).reversed())
    }

    /// Ends a cancellable operator's result with a failure, instead of running the closure. For the winner of `claim`.
    package func abandon(with failure: consuming Value) {
        preconditionFailure("\(type(of: self)) is no operator's result")
    }

    /// Runs the handlers that `publish` returned, and those of all futures they fill.
    @inlinable
    final func runHandlers(_ handlers: consuming FutureNode.List) {
        if !handlers.isEmpty { Trampoline.run(handlers, of: self) }
    }

    /// Fills the future, unless it is filled, and runs the handlers in reverse order of registration.
    package final func fillNewestFirst(with value: consuming Value) -> Bool {
        guard word.claim() else {
            word.waitUntilFilled()
            return false
        }
        slot.put(value)
        runHandlers(word.publish())
        return true
    }

    /// Fills the future within a drain; true if the drain took over the caller's reference, to run the handlers.
    ///
    /// - Parameter isTrivial: True if nothing has to be done to free the value.
    @inlinable
    final func fulfil(
        with value: consuming Value,
        isTrivial: Bool = Slot.isTrivial(Value.self),
        _ drain: inout Drain
    ) -> Bool {
        slot.put(value)
        let handlers = word.publish(isTrivial: isTrivial)
        if handlers.isEmpty { return false }
        drain.append(Unmanaged.passUnretained(self), handlers.reversed())
        return true
    }

    /// Fills the future within a drain, which retains the future if there are handlers to run.
    @inlinable
    final func pass(_ value: consuming Value, to drain: inout Drain) {
        let reference = Unmanaged.passRetained(self)
        if !fulfil(with: value, &drain) { reference.release() }
    }

    /// Adds a node that waits for this future; false if it is filled.
    @inlinable
    package final func add(_ node: FutureNode) -> Bool {
        let reference = Unmanaged.passRetained(node)
        if word.push(reference) { return true }
        reference.release()
        return false
    }

    /// Adds a node with the caller's only reference to it; false if this future is filled, and then the node is freed.
    @inlinable
    final func give(_ node: Unmanaged<FutureNode>) -> Bool {
        if word.push(node) { return true }
        node.release()
        return false
    }

    @usableFromInline
    final override func enlist(_ newest: Unmanaged<FutureNode>, from oldest: Unmanaged<FutureNode>) -> Bool {
        word.push(newest, from: oldest)
    }

    @usableFromInline
    final override func unlist(_ node: Unmanaged<FutureNode>) -> Bool {
        word.remove(node)
    }

    @usableFromInline
    final override func takeHandlers() -> List? { word.takeMovable()?.reversed() }

    @usableFromInline
    package final override var isFinished: Bool { word.isFilled }

    @usableFromInline
    package final override var hasWaiting: Bool { word.hasHandlers }

    @usableFromInline
    final func dropHandlers() {
        #if DEBUG
        if let origin { DeferredDiagnostics.report(origin) }
        #endif
        // Orphaned, not filled: an `UnownedFuture` may still read the word.
        word.orphan().drop()
    }

    /// Frees the handlers, present and future, since there will be no value.
    @usableFromInline
    final func dropHandlersForEver() {
        word.orphan().drop()
    }
}
