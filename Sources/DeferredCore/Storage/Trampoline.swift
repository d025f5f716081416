internal import CDeferred

/// Bounds how deeply work nests on a thread.
///
/// A handler may fill a future whose handler fills another, a `flatMap` on a filled future runs its closure at once, a
/// cancellation handler may cancel. The first `limit` levels are ordinary nested calls. Deeper work is put off until
/// the outermost level returns, so that no composition overflows the stack. Reading an unfilled future first runs the
/// work that this thread has put off, so that callers can't observe the delay. That nests, too, when such work reads
/// futures; beyond `limit` nested reads, a read leaves the work to the outer ones.
@usableFromInline
package enum Trampoline {
    private static let limit: Int32 = 32

    // MARK: - Nesting

    /// Enters a level, to be left with `leave`; false if that would be too deep.
    @usableFromInline
    package static func enter() -> Bool {
        let nesting = deferred_nesting()
        guard nesting.pointee.depth < limit else { return false }
        nesting.pointee.depth &+= 1
        return true
    }

    /// Leaves a level. The outermost one runs the work that was put off.
    @usableFromInline
    package static func leave() {
        let nesting = deferred_nesting()
        // The depth stays one, so that the work that was put off does not get here again.
        if nesting.pointee.putOffCount | nesting.pointee.lastCount > 0, nesting.pointee.depth == 1 { finish() }
        nesting.pointee.depth &-= 1
    }

    /// Runs `body` when the outermost level is left, or when code on this thread reads an unfilled future.
    @usableFromInline
    package static func putOff(_ body: @escaping () -> Void) {
        let nesting = deferred_nesting()
        nesting.pointee.putOffCount += 1
        Backlog.current.value.putOff.append(body)
    }

    /// Runs `body` when the outermost level is left, after all handlers; now, if this thread is in none.
    ///
    /// Unlike work that is put off, no handler has to wait for it, and no read runs it.
    package static func runAtEnd(_ body: @escaping () -> Void) {
        let nesting = deferred_nesting()
        if nesting.pointee.depth == 0 { return body() }
        nesting.pointee.lastCount += 1
        Backlog.current.value.last.append(body)
    }

    /// Runs what waits for the outermost level to be left.
    @usableFromInline
    @inline(never)
    static func finish() {
        let nesting = deferred_nesting()
        catchUp()
        while nesting.pointee.lastCount > 0, let body = Backlog.current.value.last.popFirst() {
            nesting.pointee.lastCount -= 1
            body()
            catchUp()
        }
    }

    /// Runs `body` one level deeper, and returns its result; `nil` if that would be too deep.
    @inlinable
    package static func nest<Value>(_ body: () -> Value) -> Value? {
        guard enter() else { return nil }
        defer { leave() }
        return body()
    }

    /// Runs `body` one level deeper, or puts it off if that would be too deep. Filling futures doesn't go through this, which
    /// allocates the closure in any case.
    @inlinable
    package static func perform(_ body: @escaping () -> Void) {
        if nest(body) == nil { putOff(body) }
    }

    /// Runs handlers, oldest first, with the value of `future`, and those of all futures they fill: now, unless that is
    /// too deep.
    @usableFromInline
    static func run(_ handlers: HandlerNode.List, of future: FutureNode) {
        guard enter() else { return putOff { Drain.run(handlers, of: future) } }
        Drain.run(handlers, of: future)
        leave()
    }

    /// True if this thread has put work off.
    @usableFromInline
    package static var hasPutOff: Bool { deferred_nesting().pointee.putOffCount > 0 }

    /// Runs the work that this thread has put off, until `future` is filled, so that a read doesn't observe the delay.
    @usableFromInline
    @inline(never)
    static func catchUp(beforeReading future: FutureNode) {
        let nesting = deferred_nesting()
        guard nesting.pointee.putOffCount > 0, nesting.pointee.readCount < limit else { return }
        nesting.pointee.readCount &+= 1
        catchUp(until: { future.isFinished })
        nesting.pointee.readCount &-= 1
    }

    /// Runs the work that this thread has put off, until `isDone` returns true.
    @inline(never)
    static func catchUp(until isDone: () -> Bool = { false }) {
        let nesting = deferred_nesting()
        while nesting.pointee.putOffCount > 0, !isDone() {
            guard let body = Backlog.current.value.putOff.popFirst() else {
                preconditionFailure("the trampoline has no pending closure")
            }
            nesting.pointee.putOffCount -= 1
            body()
        }
    }

    // MARK: - Freeing

    /// Frees a value without recursion, though it may contain others that are freed in this way.
    static func free<Value>(_ value: consuming Value) {
        let backlog = Backlog.current.value
        backlog.dropped.append(.value(value))
        backlog.free()
    }

    /// Frees nodes whose future was dropped unfilled.
    static func free(_ nodes: HandlerNode.List) {
        if nodes.isEmpty { return }
        let backlog = Backlog.current.value
        backlog.dropped.append(.nodes(nodes))
        backlog.free()
    }

    /// Frees a closure whose captures may free more of its kind, without recursion. Leaves the caller no reference.
    package static func free(_ closure: inout (@Sendable () -> Void)?) {
        if closure != nil { free(closure.take()) }
    }

    /// Frees objects whose deinitialisers may free more of their kind, without recursion. Leaves the caller no
    /// reference.
    package static func free(_ objects: inout [AnyObject]) {
        if objects.isEmpty { return }
        var freed: [AnyObject] = []
        swap(&objects, &freed)
        free(consume freed)
    }
}

/// The work that waits on a thread. Created on first use, and freed when the thread ends; it is empty by then.
private final class Backlog {
    static let current = ThreadLocal { Backlog() }

    @exclusivity(unchecked)
    var putOff = Queue<() -> Void>()

    /// The work that runs after all handlers.
    @exclusivity(unchecked)
    var last = Queue<() -> Void>()

    /// The nodes and values that wait to be freed.
    @exclusivity(unchecked)
    var dropped: [Dropped] = []
    @exclusivity(unchecked)
    private var isFreeing = false

    enum Dropped {
        case nodes(HandlerNode.List)
        case value(Any)
    }

    /// Frees everything in a loop: freeing a handler can free the future derived from it, and so that future's
    /// handlers. With recursion, a chain of a million would overflow the stack.
    func free() {
        if isFreeing { return }
        isFreeing = true
        while let dropped = dropped.popLast() {
            guard case .nodes(var nodes) = dropped else { continue }
            while let node = nodes.pop() {
                node._withUnsafeGuaranteedRef { $0.goUnfilled() }
                node.release()
            }
        }
        isFreeing = false
    }
}
