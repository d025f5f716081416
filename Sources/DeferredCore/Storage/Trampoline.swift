internal import Synchronization

/// Bounds how deeply work nests on a thread.
///
/// A handler may fill a future whose handler fills another, a `flatMap` on a filled future runs its closure at once, a
/// cancellation handler may cancel. The first `limit` levels nest as they are written. A deeper one is put off until the
/// outermost returns, so that no composition overflows the stack. Looking at a future that is not filled runs what this
/// thread has put off first: nobody can see that it was.
@usableFromInline
package final class Trampoline {
    private static let current = ThreadLocal { Trampoline() }
    private static let limit = 32

    /// The threads that have put something off. Most of the time there are none, and looking at an unfilled future costs
    /// this one load more.
    private static let threadsBehind = Atomic(0)

    @exclusivity(unchecked)
    @usableFromInline var depth = 0
    /// How many bodies were put off and have not run, beside the queue itself: what every level looks at.
    @exclusivity(unchecked)
    @usableFromInline var putOffCount = 0
    @exclusivity(unchecked)
    private var putOff = Queue()

    /// What waits to be freed.
    private var dropped: [Dropped] = []
    private var isFreeing = false

    private enum Dropped {
        /// - isDismissing: Whether what they captured is theirs to be freed.
        case nodes(FutureNode.List, isDismissing: Bool)
        case object(AnyObject)
    }

    // MARK: - Nesting

    /// One level deeper, to be left with `leave`; `nil` if that would be too deep.
    @usableFromInline
    package static func enter() -> Unmanaged<Trampoline>? {
        let trampoline = current.unretained
        return trampoline._withUnsafeGuaranteedRef {
            guard $0.depth < limit else { return nil }
            $0.depth &+= 1
            return trampoline
        }
    }

    /// Ends a level. The outermost runs what was put off.
    @inlinable
    @inline(__always)
    package func leave() {
        // Still one deep, so that what was put off does not come here again.
        if putOffCount > 0, depth == 1 { catchUp() }
        depth &-= 1
    }

    /// Runs `body` when the outermost level is left, or when somebody on this thread looks at an unfilled future.
    @usableFromInline
    package static func putOff(_ body: @escaping () -> Void) {
        let trampoline = current.value
        if trampoline.putOffCount == 0 { threadsBehind.add(1, ordering: .relaxed) }
        trampoline.putOffCount += 1
        trampoline.putOff.append(body)
    }

    /// Returns what `body` makes, or `nil` if that would be too deep.
    @inlinable
    package static func nest<Value>(_ body: () -> Value) -> Value? {
        guard let level = enter() else { return nil }
        defer { level._withUnsafeGuaranteedRef { $0.leave() } }
        return body()
    }

    /// Runs `node` with the value of `upstream`, now unless that would be too deep.
    @usableFromInline
    static func run(_ node: FutureNode, with upstream: FutureNode) {
        let node = Unmanaged.passRetained(node)
        func run() {
            var drain = Drain()
            drain.run(node, with: upstream)
            drain.run()
        }
        if nest(run) == nil { putOff(run) }
    }

    /// Runs handlers, oldest first, with the value of `future`, later.
    @usableFromInline
    static func putOff(_ handlers: FutureNode.List, of future: FutureNode) {
        putOff {
            var drain = Drain()
            drain.run(handlers, of: future)
            drain.run()
        }
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
    static var isItselfBehind: Bool {
        !current.unretained._withUnsafeGuaranteedRef { $0.putOffCount == 0 }
    }

    /// Runs what this thread has put off, up to where `isDone`.
    @usableFromInline
    package static func catchUp(until isDone: () -> Bool = { false }) {
        current.unretained._withUnsafeGuaranteedRef { trampoline in
            while trampoline.putOffCount > 0, !isDone() { trampoline.runNext() }
        }
    }

    @usableFromInline
    @inline(never)
    func catchUp() {
        while putOffCount > 0 { runNext() }
    }

    private func runNext() {
        let body = putOff.removeFirst()
        putOffCount -= 1
        if putOffCount == 0 { Self.threadsBehind.subtract(1, ordering: .relaxed) }
        body()
    }

    /// First in, first out.
    private struct Queue {
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

    // MARK: - Freeing

    /// Frees nodes whose future goes unfilled.
    ///
    /// - Parameter isDismissing: Whether they have been taken, and so what they captured is to be freed before.
    static func free(_ nodes: FutureNode.List, isDismissing: Bool) {
        if nodes.isEmpty { return }
        let trampoline = current.value
        trampoline.dropped.append(.nodes(nodes, isDismissing: isDismissing))
        trampoline.free()
    }

    /// Frees objects, with each of which more of their kind may go. Leaves no reference with the caller.
    package static func free<Object: AnyObject>(_ objects: inout [Object]) {
        if objects.isEmpty { return }
        let trampoline = current.value
        while let object = objects.popLast() { trampoline.dropped.append(.object(object)) }
        trampoline.free()
    }

    /// In a loop: freeing a handler can end the life of the future behind it, and so free the handlers of that. A chain
    /// of a million would overflow the stack otherwise.
    private func free() {
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
