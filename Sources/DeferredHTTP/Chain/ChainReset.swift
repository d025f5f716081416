internal import DeferredCore
internal import DeferredTask

/// The reset of a chain and its copies: first nothing comes in any more, then what is in flight ends, and then the links
/// are reset. What they have begun runs through the loaders at the ends of the chain, which come last.
final class ChainReset: Sendable {
    private let guards: [ResetState]
    private let inFlight: [InFlightRequests]
    private let links: [any HTTPLoader]
    /// The terminal loader, and the links that lead to others.
    private let ends: [any HTTPLoader]
    private let running = Lock(Running())

    private struct Running: Sendable {
        /// Filled at the end of the reset under way.
        var end: Deferred<Void>?
        /// True once nothing is in flight any more. A reset that begins then comes after this one: what it has to reset may
        /// be reset already.
        var isResettingLoaders = false
        var next: (end: Deferred<Void>, locals: TaskLocals?)?

        mutating func begin(_ locals: TaskLocals?) -> (end: Deferred<Void>, isNew: Bool) {
            guard let end else {
                let new = Deferred<Void>()
                end = new
                return (new, true)
            }
            if !isResettingLoaders { return (end, false) }
            let next = next ?? (Deferred(), locals)
            self.next = next
            return (next.end, false)
        }

        /// Ends the reset under way; returns the one that follows.
        mutating func finish() -> (end: Deferred<Void>, locals: TaskLocals?)? {
            defer { (end, isResettingLoaders, next) = (next?.end, false, nil) }
            return next
        }
    }

    init(_ links: [any HTTPLink], _ terminal: (any HTTPLoader)?) {
        guards = links.compactMap { ($0 as? ResetGuard)?.state }
        inFlight = links.compactMap { ($0 as? Autocancel)?.inFlight }
        let others = links.filter { !($0 is ResetGuard || $0 is Autocancel) }
        self.links = others.filter(\.successors.isEmpty)
        ends = others.filter { !$0.successors.isEmpty } + (terminal.map { [$0] } ?? [])
    }

    func reset() -> Future<Void> {
        // A loader may have to know who resets it, also when something else is waited for before.
        let locals: TaskLocals? = TaskLocals(ofRunningCode: ())
        if guards.isEmpty, inFlight.isEmpty { return resetLoaders(locals) }
        let (end, isNew) = running.withLock { $0.begin(locals) }
        if isNew {
            begin(end, locals)
        } else {
            // The reset under way would wait for the code that waits for it.
            TokenRefresh.current?.excuse()
            for requests in inFlight { requests.end(of: Intercept.requests) }
        }
        return end.future
    }

    private func begin(_ end: Deferred<Void>, _ locals: TaskLocals?) {
        for state in guards { state.close() }
        inFlight.map { $0.drain() }.allFilled().upon(.immediate) { [self] _ in
            running.withLock { $0.isResettingLoaders = true }
            resetLoaders(locals).upon(.immediate) { [self] in
                if let next = running.withLock({ $0.finish() }) { begin(next.end, next.locals) }
                for requests in inFlight { requests.reopen() }
                for state in guards { state.reopen() }
                end.fill()
            }
        }
    }

    private func resetLoaders(_ locals: TaskLocals?) -> Future<Void> {
        locals.restore { links.reset() }.flatMap { [self] _ in locals.restore { ends.reset() } }
    }
}

extension [any HTTPLoader] {
    /// Resets all at the same time; the future is filled when the last of them is reset.
    func reset() -> Future<Void> {
        if count == 1 { return self[0].reset() }
        return map { $0.reset() }.allFilled().ignored()
    }
}
