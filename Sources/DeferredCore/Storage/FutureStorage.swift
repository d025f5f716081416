/// A future's value and its waiting handlers.
///
/// SAFETY: `value` is written once, by the winner of `word.claim()` or by the only writer, before `word.publish()`
/// releases it; it is read only after `word.isFilled` acquired it.
@usableFromInline
package class FutureStorage<Value: Sendable>: FutureNode, @unchecked Sendable {
    @usableFromInline final let word: StateWord
    @exclusivity(unchecked)
    @usableFromInline final var stored: Value?
    #if DEBUG
    /// Where the user made it; `nil` for an operator's result, which nobody has promised to fill.
    @usableFromInline final var origin: DeferredDiagnostics.Origin?
    #endif

    /// - Parameter membership: For storage that waits for another future.
    @inlinable
    package convenience init() {
        self.init(.permanent())
    }

    @inlinable
    override init(_ membership: consuming Membership) {
        word = StateWord(filled: false)
        stored = nil
        super.init(membership)
    }

    @inlinable
    package init(filledWith value: consuming Value) {
        word = StateWord(filled: true)
        stored = value
        super.init(.permanent())
    }

    @inlinable
    deinit {
        if hasHandlers { dropHandlers() }
    }

    /// Whether a handler waits. Exact only while nobody registers or cancels.
    @inlinable
    package final var hasHandlers: Bool { word.hasHandlers }

    /// The value, once filled.
    @inlinable
    package final func peek() -> Value? {
        word.isFilled ? stored : nil
    }

    /// The value of a future known to be filled.
    @inlinable
    final var value: Value {
        stored.unsafelyUnwrapped
    }

    /// Fills unless somebody did, and runs the handlers.
    @inlinable
    package final func fill(with value: consuming Value) -> Bool {
        guard word.claim() else {
            word.waitUntilFilled()
            return false
        }
        fulfil(with: value)
        return true
    }

    /// Wins the right to fill, for a producer that has to know before it has the value.
    @inlinable
    package final func claim() -> Bool { word.claim() }

    /// Fills and runs the handlers. For the winner of `claim`, or the only writer.
    @inlinable
    package final func fulfil(with value: consuming Value) {
        stored = value
        let handlers = word.publish()
        if handlers.isEmpty { return }
        var drain = Drain()
        drain.run(handlers.reversed(), of: self)
        drain.run()
    }

    /// Fills unless somebody did, and runs the handlers in reverse order of registration.
    package final func fillNewestFirst(with value: consuming Value) -> Bool {
        guard word.claim() else {
            word.waitUntilFilled()
            return false
        }
        stored = value
        var drain = Drain()
        drain.run(word.publish(), of: self)
        drain.run()
        return true
    }

    /// Fills within a drain; true if it now waits there, and the caller's reference with it.
    @inlinable
    final func fulfil(with value: consuming Value, _ drain: inout Drain) -> Bool {
        stored = value
        let handlers = word.publish()
        if handlers.isEmpty { return false }
        drain.append(Unmanaged.passUnretained(self), handlers.reversed())
        return true
    }

    /// Adds a node that waits for this future; false if it is filled.
    @inlinable
    final func add(_ node: FutureNode) -> Bool {
        let reference = Unmanaged.passRetained(node)
        if word.push(reference) { return true }
        reference.release()
        return false
    }

    @usableFromInline
    final override func unlist(_ node: Unmanaged<FutureNode>) -> Bool {
        word.remove(node)
    }

    @usableFromInline
    final override func close() -> List {
        word.isFilled ? List() : word.publish()
    }

    @usableFromInline
    package final override var isFinished: Bool { word.isFilled }

    @usableFromInline
    final func dropHandlers() {
        #if DEBUG
        if let origin { DeferredDiagnostics.report(origin) }
        #endif
        close().reversed().drop()
    }
}
