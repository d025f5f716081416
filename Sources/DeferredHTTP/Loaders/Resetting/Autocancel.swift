public import DeferredCore
internal import DeferredTask

/// Cancels the requests in flight when the chain is reset.
///
/// The reset ends when all of them have completed and the loaders after this one have then been reset. A request that
/// arrives meanwhile, which ``ResetGuard`` prevents, is cancelled as well.
///
/// A loader that ignores the cancellation can't hold up a reset: requests that have not completed after a grace period
/// are completed here, with ``HTTPError/Code/cancelled``.
///
/// Copies share the requests in flight: one value in two chains cancels the requests of both when either is reset. A
/// response that is a stream is in flight until its body has ended, and a reset ends it.
///
/// - Important: Two chains that share several resettable values must contain them in the same order. Otherwise a reset
///   waits for itself.
///
/// Its place in the chain makes no difference: the shipped loaders before it that let requests wait, or load them again,
/// count those as in flight, too. A custom loader that does so comes after it, and so does a ``Router`` whose routes it is
/// to reset.
///
/// A reset out of an ``Intercept`` cancels the request of that closure first, and does not wait for it.
///
/// **Lifetime:** tasks are not kept beyond their completion.
public struct Autocancel: HTTPLink {
    /// The next loader, set by `-->`.
    public var next: (any HTTPLoader)? {
        didSet {
            following = NextLoader(next)
            chain = ChainIdentity()
            occursAgain = next?.leads(to: flights) == true
            later = LaterResets(after: next)
        }
    }
    private var occursAgain = false
    private var following = NextLoader()
    private var chain = ChainIdentity()
    private var later = LaterResets()
    let flights: Flights

    /// Creates the loader.
    ///
    /// - Parameters:
    ///   - grace: The time that a reset waits for cancelled tasks to complete.
    ///   - clock: The clock by which that time is measured.
    public init(grace: Duration = .seconds(5), clock: any Clock<Duration> = ContinuousClock()) {
        flights = Flights(grace: grace, clock: clock)
    }

    /// Passes the task on, and keeps track of it.
    public func load(_ task: HTTPTask) {
        guard later.admit(task) else { return }
        if !flights.add(task.execution) { task.cancel() }
        task.pass(to: following)
    }

    /// Cancels the requests in flight, waits for them, and resets the loaders after this one. Joins a reset under way.
    public func reset() -> Future<Void> {
        later.keepOut {
            guard occursAgain else { return flights.reset(chain, next) }
            // The other occurrence takes part in the reset of the loaders after this one, which therefore comes second.
            return flights.reset(chain, nil).flatMap { resetSuccessors() }
        }
    }
}

extension Autocancel: StateSharing {
    var sharedState: AnyObject { flights }
}

/// The requests and streams in flight of an ``Autocancel`` and its copies.
final class Flights: Sendable {
    /// An execution or a response's stream, which a reset cancels.
    private enum Flight: Sendable {
        case execution(HTTPExecution)
        case stream(WeakStream)

        func cancel() {
            switch self {
            case .execution(let execution): execution.cancel()
            case .stream(let stream): stream.cancel()
            }
        }

        /// Cancels and completes an execution that starts the reset, and would wait for itself.
        func end(ifPartOf wholes: [Identity]) {
            guard case .execution(let execution) = self, wholes.contains(execution.identityOfWhole) else { return }
            execution.cancel()
            execution.fail(.cancelled)
        }

        /// Completes an execution that has ignored the cancellation.
        func end() {
            if case .execution(let execution) = self { execution.fail(.cancelled) }
        }
    }

    private enum Step {
        case nothing
        case cancel([Flight], ResetGate)
        case reset([(any HTTPLoader)?], ClockTimer?)
    }

    private struct State: Sendable {
        var machine = AutocancelStateMachine<Flight>()
        var gate = ResetGate()
        /// The reset under way.
        var reset: JoinedReset?
        var timer: ClockTimer?
        /// The number of loaders before the ``Autocancel`` that are being reset.
        var holders = 0

        mutating func reset(_ chain: ChainIdentity, _ next: (any HTTPLoader)?) -> (Step, Future<Void>) {
            var reset = reset.take() ?? JoinedReset()
            let isNew = reset.join(chain, next)
            self.reset = reset
            guard isNew else { return (.nothing, reset.future) }
            // The next loaders of the other chains are being reset already: only this chain's is left to reset.
            if machine.state == .resettingNext { return (.reset([next], nil), reset.future) }
            return (step(machine.reset()), reset.future)
        }

        mutating func left(_ ticket: Int) -> Step { step(machine.left(ticket)) }

        private mutating func step(_ action: AutocancelStateMachine<Flight>.Action) -> Step {
            switch action {
            case .nothing:
                return .nothing
            case .cancel(let flights):
                defer { gate = ResetGate() }
                return .cancel(flights, gate)
            case .resetNext:
                return .reset(reset?.nexts ?? [], timer.take())
            }
        }

        /// Ends one chain's reset; returns the whole after the last one, to be finished and released outside of the
        /// lock.
        mutating func nextWasReset() -> JoinedReset? {
            guard reset?.endOne() == true else { return nil }
            machine.nextWasReset()
            return reset.take()
        }
    }

    private let grace: Duration
    private let clock: any Clock<Duration>
    private let state = Lock(State())

    init(grace: Duration, clock: any Clock<Duration>) {
        self.grace = grace
        self.clock = clock
    }

    /// Keeps track of an execution; returns false during a reset.
    func add(_ execution: HTTPExecution) -> Bool {
        let (ticket, gate) = state.withLock { state in
            (state.holders == 0 ? state.machine.arrived(.execution(execution)) : nil, state.gate)
        }
        guard let ticket else { return false }
        execution.pass(gate)
        execution.whenEnded { result in
            if let stream = result.arrived?.stream { self.add(stream) }
            self.perform(self.state.withLock { $0.left(ticket) })
        }
        return true
    }

    private func add(_ stream: HTTPBodyStream) {
        // A stream that arrives while the reset waits for its execution has to be ended, too.
        let (ticket, isToStop) = state.withLock { state in
            (state.machine.followed(.stream(stream.weak)), state.machine.state != .open)
        }
        stream.addEndHandler { _ in self.perform(self.state.withLock { $0.left(ticket) }) }
        if isToStop { stream.cancel() }
    }

    /// Lets no execution in until ``release()``.
    func hold() { state.withLock { $0.holders += 1 } }

    func release() { state.withLock { $0.holders -= 1 } }

    func reset(_ chain: ChainIdentity, _ next: (any HTTPLoader)?) -> Future<Void> {
        let (step, future) = state.withLock { $0.reset(chain, next) }
        perform(step)
        return future
    }

    private func perform(_ step: Step) {
        switch step {
        case .nothing:
            break
        case .cancel(let flights, let gate):
            gate.close()
            startTimer()
            // No waiting task is started before all executions are cancelled.
            let own = Intercept.requests
            Turns.hold {
                if !own.isEmpty { for flight in flights { flight.end(ifPartOf: own) } }
                for flight in flights { flight.cancel() }
            }
        case .reset(let nexts, let timer):
            timer?.cancel()
            for next in nexts {
                if let next { next.reset().upon(.immediate) { self.finish() } } else { finish() }
            }
        }
    }

    private func startTimer() {
        let timer = ClockTimer(after: grace, clock: clock) { [weak self] in
            for flight in self?.state.withLock({ $0.machine.items }) ?? [] { flight.end() }
        }
        let isOver = state.withLock { state in
            guard state.machine.state == .draining else { return true }
            state.timer = timer
            return false
        }
        if isOver { timer.cancel() }
    }

    private func finish() {
        state.withLock { $0.nextWasReset() }?.finish()
    }
}
