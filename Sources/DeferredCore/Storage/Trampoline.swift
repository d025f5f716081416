/// Bounds how deeply filled futures nest when they run transforms inline, and how deeply dropped ones nest.
///
/// `flatMap` on a filled future runs its closure at once. If that closure does the same, and so on, then the stack grows
/// with each turn. From a certain depth on, the turn is put off until the outermost one returns.
///
/// Likewise, freeing a handler can end the life of the future behind it, and so free the handlers of that. These are put
/// off until the outermost handler is free: a chain of a million would overflow the stack otherwise.
@usableFromInline
final class Trampoline {
    private static let current = ThreadLocal { Trampoline() }
    private static let limit = 32

    private var depth = 0
    /// Nodes, with a reference to each, and the futures they take their values from.
    private var deferred: [(node: Unmanaged<FutureNode>, upstream: FutureNode)] = []

    /// Handlers that wait to be freed.
    private var dropped: [(nodes: FutureNode.List, isDismissing: Bool)] = []
    private var isFreeing = false

    /// Runs `node` with the value of `upstream`, inline unless that is too deep.
    @usableFromInline
    static func run(_ node: FutureNode, with upstream: FutureNode) {
        let trampoline = current.value
        let node = Unmanaged.passRetained(node)
        if trampoline.depth < limit {
            trampoline.depth += 1
            trampoline.run(node, with: upstream)
            trampoline.leave()
        } else {
            trampoline.deferred.append((node, upstream))
        }
    }

    /// Returns what `body` makes, or `nil` if that would be too deep.
    @inlinable
    static func nest<Value>(_ body: () -> Value) -> Value? {
        guard let trampoline = enter() else { return nil }
        defer { trampoline.leave() }
        return body()
    }

    @usableFromInline
    static func enter() -> Trampoline? {
        let trampoline = current.value
        guard trampoline.depth < limit else { return nil }
        trampoline.depth += 1
        return trampoline
    }

    @usableFromInline
    func leave() {
        if depth == 1 {
            // Still one deep, so that the turns that were put off do not come here again.
            while !deferred.isEmpty {
                let turns = deferred
                deferred = []
                for turn in turns { run(turn.node, with: turn.upstream) }
            }
        }
        depth -= 1
    }

    /// Frees nodes.
    ///
    /// - Parameter isDismissing: Whether they have been taken, and so what they captured is to be freed before.
    static func free(_ nodes: FutureNode.List, isDismissing: Bool) {
        if nodes.isEmpty { return }
        let trampoline = current.value
        trampoline.dropped.append((nodes, isDismissing))
        guard !trampoline.isFreeing else { return }
        trampoline.isFreeing = true
        while let (first, isDismissing) = trampoline.dropped.popLast() {
            var nodes = first
            while let node = nodes.pop() {
                if isDismissing { node._withUnsafeGuaranteedRef { $0.dismiss() } }
                node.release()
            }
        }
        trampoline.isFreeing = false
    }

    private func run(_ node: Unmanaged<FutureNode>, with upstream: FutureNode) {
        var drain = Drain()
        drain.run(node, with: upstream)
        drain.run()
    }
}
