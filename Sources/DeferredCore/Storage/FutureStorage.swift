/// A future's value and its waiting handlers.
///
/// SAFETY: `slot` is written once, by the winner of `word.claim()` or by the only writer, before `word.publish()`
/// releases it; it is read only after `word.isFilled` acquired it.
@_fixed_layout
@usableFromInline
package class FutureStorage<Value: Sendable>: FutureNode, @unchecked Sendable {
    @usableFromInline final let slot = RawStorage()

    @inlinable
    package convenience init() {
        self.init(.permanent())
    }

    /// - Parameter membership: The membership of storage that waits for another future.
    @inlinable
    init(_ membership: consuming Membership) {
        super.init(membership, StateWord(filled: false))
    }

    @inlinable
    package init(filledWith value: consuming Value) {
        super.init(.permanent(), StateWord(filled: true, isTrivial: RawStorage.isTrivial(Value.self)))
        slot.put(value)
    }

    @inlinable
    deinit {
        if word.hasValueToFree { freeValue() } else if word.hasHandlers { dropHandlers() }
    }

    /// Frees the value, which may contain the last reference to another future, and so on.
    @inlinable
    @inline(__always)
    final func freeValue() {
        // Not only where the future was filled, which may not know: even unspecialised code can check this at no cost.
        if RawStorage.isTrivial(Value.self) { return }
        if Trampoline.enter() {
            slot.drop(Value.self)
            Trampoline.leave()
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

    /// Returns the value; `nil` if unfilled.
    @inlinable
    package final func peek() -> Value? {
        word.isFilled ? value : nil
    }

    /// Returns the value, for callers outside of the package; `nil` if unfilled. Runs work that this thread has put off
    /// first, so that they can't observe the delay.
    @inlinable
    package final func look() -> Value? {
        if let value = peek() { return value }
        Trampoline.catchUp(beforeReading: self)
        return peek()
    }

    /// The value of a future known to be filled.
    @inlinable
    package final var value: Value {
        slot.pointer(to: Value.self).pointee
    }

    /// Fills the future, unless it is filled, and runs the handlers; see `fulfil`.
    @inlinable
    package final func fill(with value: consuming Value, isTrivial: Bool = RawStorage.isTrivial(Value.self)) -> Bool {
        guard word.claimOrWait() else { return false }
        fulfil(with: value, isTrivial: isTrivial)
        return true
    }

    /// Wins the right to fill, for a producer that has to know before it has the value.
    @inlinable
    package final func claim() -> Bool { word.claim() }

    /// Fills the future, and runs the handlers. For the winner of `claim`, or the only writer.
    ///
    /// - Parameter isTrivial: True if nothing has to be done to free the value.
    @inlinable
    package final func fulfil(with value: consuming Value, isTrivial: Bool = RawStorage.isTrivial(Value.self)) {
        slot.put(value)
        runHandlers(word.publish(isTrivial: isTrivial).reversed())
    }

    /// Ends a cancellable operator's result with a failure, instead of running the closure. For the winner of `claim`.
    package func abandon(with failure: consuming Value) {
        preconditionFailure("\(type(of: self)) is no operator's result")
    }

    /// Fills the future, unless it is filled, and runs the handlers in reverse order of registration.
    ///
    /// - Parameter isNested: Whether the caller has entered a level for them, so that none is put off.
    package final func fillNewestFirst(with value: consuming Value, isNested: Bool = false) -> Bool {
        guard word.claimOrWait() else { return false }
        slot.put(value)
        let handlers = word.publish()
        if isNested { Drain.run(handlers, of: self) } else { runHandlers(handlers) }
        return true
    }

    /// Fills the future within a drain; true if the drain took over the caller's reference, to run the handlers.
    ///
    /// - Parameter isTrivial: True if nothing has to be done to free the value.
    @inlinable
    final func fulfil(
        with value: consuming Value,
        isTrivial: Bool = RawStorage.isTrivial(Value.self),
        _ drain: inout Drain
    ) -> Bool {
        slot.put(value)
        let handlers = word.publish(isTrivial: isTrivial)
        if handlers.isEmpty { return false }
        drain.append(Unmanaged.passUnretained(self), handlers.reversed())
        return true
    }

    /// Fills the future, unless it is filled, and frees the handlers without running them.
    package final func fillDroppingHandlers(with value: consuming Value) {
        guard word.claim() else { return }
        slot.put(value)
        word.publish().drop()
    }

    /// Fills the future within a drain, which retains the future if there are handlers to run.
    @inlinable
    final func pass(_ value: consuming Value, to drain: inout Drain) {
        let reference = Unmanaged.passRetained(self)
        if !fulfil(with: value, &drain) { reference.release() }
    }
}
