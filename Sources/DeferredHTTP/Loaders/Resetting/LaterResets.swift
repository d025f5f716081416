internal import DeferredCore

/// The ``Autocancel`` and ``ResetGuard`` loaders after a loader, which reach the requests that it holds.
///
/// A loader that lets requests wait, or loads them again, treats them as those loaders would if they came before it. So
/// their place in the chain makes no difference.
struct LaterResets: Sendable {
    private final class Loaders: Sendable {
        let flights: [Flights]
        let guards: [ResetState]
        let chain = ChainIdentity()

        init(_ flights: [Flights], _ guards: [ResetState]) {
            (self.flights, self.guards) = (flights, guards)
        }
    }

    /// `nil` in chains that have no such loader after this one.
    private let loaders: Loaders?

    /// Finds the loaders that every request meets which `next` loads; those in the routes of a ``Router`` are not.
    init(after next: (any HTTPLoader)? = nil) {
        var (flights, guards): ([Flights], [ResetState]) = ([], [])
        var rest = next
        while let loader = rest {
            if let autocancel = loader as? Autocancel { flights.append(autocancel.flights) }
            if let resetGuard = loader as? ResetGuard { guards.append(resetGuard.state) }
            if let fallback = loader as? Fallback {
                rest = fallback.next
            } else {
                let successors = loader.successors
                rest = successors.count == 1 ? successors[0] : nil
            }
        }
        loaders = flights.isEmpty && guards.isEmpty ? nil : Loaders(flights, guards)
    }

    /// Notes a request that arrives at the loader; ends it during a reset.
    ///
    /// - Returns: False if it was ended.
    func admit(_ task: HTTPTask) -> Bool {
        guard let loaders else { return true }
        if loaders.guards.contains(where: { !$0.isOpen }) {
            if !task.failIfCancelled() { task.fail(.resetInProgress) }
            return false
        }
        for flights in loaders.flights where !flights.add(task.execution) { task.cancel() }
        return true
    }

    /// Cancels the requests in flight, waits for them, and then does the rest of a reset. No request comes in meanwhile.
    func reset(then rest: @escaping @Sendable () -> Future<Void>) -> Future<Void> {
        guard let loaders, !loaders.flights.isEmpty else { return keepOut(during: rest) }
        return keepOut {
            loaders.flights.map { $0.reset(loaders.chain, nil) }.allFilled().flatMap { _ in rest() }
        }
    }

    /// Does a reset, and lets no request in meanwhile.
    func keepOut(during reset: () -> Future<Void>) -> Future<Void> {
        guard let loaders else { return reset() }
        for state in loaders.guards { state.hold() }
        for flights in loaders.flights { flights.hold() }
        return reset().map {
            for flights in loaders.flights { flights.release() }
            for state in loaders.guards { state.release() }
        }
    }
}
