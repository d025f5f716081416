/// Bounds how deeply filled futures nest when they run transforms inline.
///
/// `flatMap` on a filled future runs its closure at once. If that closure does the same, and so on, then the stack grows
/// with each turn. From a certain depth on, the turn is put off until the outermost one returns.
@usableFromInline
final class Trampoline {
    private static let current = ThreadLocal { Trampoline() }
    private static let limit = 32

    private var depth = 0
    private var deferred: [() -> Void] = []

    /// Runs `stage` with the value of `upstream`, inline unless that is too deep.
    @usableFromInline
    static func run(_ stage: FutureNode, _ upstream: FutureNode) {
        current.value.run {
            var drain = Drain()
            let reference = Unmanaged.passRetained(stage)
            if !stage.run(upstream, &drain) { reference.release() }
            drain.run()
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
                for turn in turns { turn() }
            }
        }
        depth -= 1
    }

    private func run(_ turn: @escaping () -> Void) {
        guard depth < Self.limit else {
            deferred.append(turn)
            return
        }
        depth += 1
        turn()
        leave()
    }
}
