internal import DeferredCore
internal import DeferredTask

/// The reset of a chain and its copies: first nothing comes in any more, then what is in flight ends, and then the loaders
/// are reset, all at the same time.
final class ChainReset: Sendable {
    private let guards: [ResetState]
    private let flights: [Flights]
    private let loaders: [any HTTPLoader]
    private let running = Lock(Running())

    private struct Running: Sendable {
        /// Filled at the end of the reset under way.
        var end: Deferred<Void>?
    }

    init(_ links: [any HTTPLink], _ terminal: (any HTTPLoader)?) {
        guards = links.compactMap { ($0 as? ResetGuard)?.state }
        flights = links.compactMap { ($0 as? Autocancel)?.flights }
        loaders = links.filter { !($0 is ResetGuard || $0 is Autocancel) } + (terminal.map { [$0] } ?? [])
    }

    func reset() -> Future<Void> {
        if guards.isEmpty, flights.isEmpty { return loaders.reset() }
        let (end, isNew) = running.withLock { running in
            let isNew = running.end == nil
            let end = running.end ?? Deferred()
            running.end = end
            return (end, isNew)
        }
        if isNew { begin(end) }
        return end.future
    }

    private func begin(_ end: Deferred<Void>) {
        for state in guards { state.close() }
        // A loader may have to know who resets it, also when something else is waited for before.
        let locals: TaskLocals? = TaskLocals(ofRunningCode: ())
        flights.map { $0.drain() }.allFilled().upon(.immediate) { [self] _ in
            locals.restore { loaders.reset() }.upon(.immediate) { [self] in
                running.withLock { $0.end = nil }
                for flights in flights { flights.reopen() }
                for state in guards { state.reopen() }
                end.fill()
            }
        }
    }
}

extension [any HTTPLoader] {
    /// Resets all at the same time; the future is filled when the last of them is reset.
    func reset() -> Future<Void> {
        if count == 1 { return self[0].reset() }
        return map { $0.reset() }.allFilled().ignored()
    }
}
