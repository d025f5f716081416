internal import CDeferred
internal import Synchronization

/// Bounds how deeply work nests on a thread.
///
/// A handler may fill a future whose handler fills another, a `flatMap` on a filled future runs its closure at once, a
/// cancellation handler may cancel. The first `limit` levels nest as they are written. A deeper one is put off until the
/// outermost returns, so that no composition overflows the stack. Looking at a future that is not filled runs what this
/// thread has put off first: nobody can see that it was.
@usableFromInline
package enum Trampoline {
    private static let limit: Int32 = 32

    /// The threads that have put something off. Most of the time there are none, and looking at an unfilled future costs
    /// this one load more.
    private static let threadsBehind = Atomic(0)

    // MARK: - Nesting

    /// One level deeper, to be left with `leave`; false if that would be too deep.
    @usableFromInline
    package static func enter() -> Bool {
        let nesting = deferred_nesting()
        guard nesting.pointee.depth < limit else { return false }
        nesting.pointee.depth &+= 1
        return true
    }

    /// Ends a level. The outermost runs what was put off.
    @usableFromInline
    package static func leave() {
        let nesting = deferred_nesting()
        // Still one deep, so that what was put off does not come here again.
        if nesting.pointee.putOffCount > 0, nesting.pointee.depth == 1 { catchUp() }
        nesting.pointee.depth &-= 1
    }

    /// Runs `body` when the outermost level is left, or when somebody on this thread looks at an unfilled future.
    @usableFromInline
    package static func putOff(_ body: @escaping () -> Void) {
        let nesting = deferred_nesting()
        if nesting.pointee.putOffCount == 0 { threadsBehind.add(1, ordering: .relaxed) }
        nesting.pointee.putOffCount += 1
        Backlog.current.value.putOff.append(body)
    }

    /// Returns what `body` makes, or `nil` if that would be too deep.
    @inlinable
    package static func nest<Value>(_ body: () -> Value) -> Value? {
        guard enter() else { return nil }
        defer { leave() }
        return body()
    }

    /// Runs handlers, oldest first, with the value of `future`, and all that comes of it: now, unless that is too deep.
    @usableFromInline
    static func run(_ handlers: FutureNode.List, of future: FutureNode) {
        guard enter() else { return putOff { Drain.run(handlers, of: future) } }
        Drain.run(handlers, of: future)
        leave()
    }

    /// Runs `node` with the value of `upstream`, now unless that would be too deep.
    @usableFromInline
    static func run(_ node: FutureNode, with upstream: FutureNode) {
        node.next = nil
        run(FutureNode.List(head: Unmanaged.passRetained(node)), of: upstream)
    }

    /// Whether this thread may have put something off.
    @usableFromInline
    package static var isBehind: Bool {
        // Relaxed: what matters is what this thread itself has written.
        threadsBehind.load(ordering: .relaxed) > 0
    }

    /// Whether this thread has put something off.
    @inlinable
    static var hasPutOff: Bool { isBehind && isItselfBehind }

    @usableFromInline
    static var isItselfBehind: Bool { deferred_nesting().pointee.putOffCount > 0 }

    /// Runs what this thread has put off, up to where `isDone`.
    @usableFromInline
    @inline(never)
    package static func catchUp(until isDone: () -> Bool = { false }) {
        let nesting = deferred_nesting()
        while nesting.pointee.putOffCount > 0, !isDone() {
            let body = Backlog.current.value.putOff.removeFirst()
            nesting.pointee.putOffCount -= 1
            if nesting.pointee.putOffCount == 0 { threadsBehind.subtract(1, ordering: .relaxed) }
            body()
        }
    }

    // MARK: - Freeing

    /// Frees nodes whose future goes unfilled.
    ///
    /// - Parameter isDismissing: Whether they have been taken, and so what they captured is to be freed before.
    static func free(_ nodes: FutureNode.List, isDismissing: Bool) {
        if nodes.isEmpty { return }
        let backlog = Backlog.current.value
        backlog.dropped.append(.nodes(nodes, isDismissing: isDismissing))
        backlog.free()
    }

    /// Frees objects, with each of which more of their kind may go. Leaves no reference with the caller.
    package static func free<Object: AnyObject>(_ objects: inout [Object]) {
        if objects.isEmpty { return }
        let backlog = Backlog.current.value
        while let object = objects.popLast() { backlog.dropped.append(.object(object)) }
        backlog.free()
    }
}

/// The work that waits on a thread: made for the first of it, and freed, empty by then, when the thread ends.
private final class Backlog {
    static let current = ThreadLocal { Backlog() }

    @exclusivity(unchecked)
    var putOff = Queue()

    /// What waits to be freed.
    var dropped: [Dropped] = []
    private var isFreeing = false

    enum Dropped {
        /// - isDismissing: Whether what they captured is theirs to be freed.
        case nodes(FutureNode.List, isDismissing: Bool)
        case object(AnyObject)
    }

    /// First in, first out.
    struct Queue {
        private var bodies: [(() -> Void)?] = []
        private var next = 0

        var isEmpty: Bool { next == bodies.count }

        mutating func append(_ body: @escaping () -> Void) { bodies.append(body) }

        mutating func removeFirst() -> () -> Void {
            guard let body = bodies[next].take() else { preconditionFailure("nothing was put off") }
            next += 1
            if next > 32, 2 * next >= bodies.count {
                bodies.removeFirst(next)
                next = 0
            } else if isEmpty {
                bodies.removeAll(keepingCapacity: true)
                next = 0
            }
            return body
        }
    }

    /// In a loop: freeing a handler can end the life of the future behind it, and so free the handlers of that. A chain
    /// of a million would overflow the stack otherwise.
    func free() {
        if isFreeing { return }
        isFreeing = true
        while let dropped = dropped.popLast() {
            guard case .nodes(var nodes, let isDismissing) = dropped else { continue }
            while let node = nodes.pop() {
                node._withUnsafeGuaranteedRef { $0.goUnfilled(isDismissing: isDismissing) }
                node.release()
            }
        }
        isFreeing = false
    }
}
