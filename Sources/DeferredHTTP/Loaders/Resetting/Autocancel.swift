public import DeferredCore
internal import DeferredTask

/// Cancels what is in flight when the chain is reset.
///
/// The reset is done when all of it has completed, and then the loaders after this one were reset. What arrives meanwhile,
/// which ``ResetGuard`` keeps from happening, is cancelled as well.
///
/// A loader that doesn't heed the cancellation can't hold up a reset: what has not completed after a while of grace is
/// completed here, with ``HTTPError/Code/cancelled``.
///
/// **Lifetime:** tasks are kept weakly, and not beyond their completion.
public struct Autocancel: HTTPLink {
    /// The next loader, set by `-->`.
    public var next: (any HTTPLoader)?
    private let flights: Flights

    /// Creates the loader.
    ///
    /// - Parameters:
    ///   - grace: How long a reset waits for cancelled tasks to complete.
    ///   - clock: What measures it.
    public init(grace: Duration = .seconds(5), clock: any Clock<Duration> = ContinuousClock()) {
        flights = Flights(grace: grace, clock: clock)
    }

    /// Passes the task on, and keeps track of it.
    public func load(_ task: HTTPTask) {
        if !flights.add(task) { task.cancel() }
        task.pass(to: next)
    }

    /// Cancels what is in flight, waits for it, and resets the other loaders, unless that is under way.
    public func reset() -> Future<Void> {
        flights.reset(next)
    }
}

/// The tasks in flight of an ``Autocancel`` and its copies.
private final class Flights: Sendable {
    private struct Flight: Sendable {
        weak var task: HTTPTask?
    }

    private struct State: Sendable {
        var machine = AutocancelStateMachine<Flight>()
        var next: (any HTTPLoader)?
        var reset = Deferred<Void>()
        var timer: ClockTimer?
    }

    private let grace: Duration
    private let clock: any Clock<Duration>
    private let state = Lock(State())

    init(grace: Duration, clock: any Clock<Duration>) {
        self.grace = grace
        self.clock = clock
    }

    /// False during a reset.
    func add(_ task: HTTPTask) -> Bool {
        guard let ticket = state.withLock({ $0.machine.arrived(Flight(task: task)) }) else { return false }
        task.addCompletionHandler { _ in self.perform(self.state.withLock { $0.machine.left(ticket) }) }
        return true
    }

    func reset(_ next: (any HTTPLoader)?) -> Future<Void> {
        let (action, future) = state.withLock { state in
            let isFirst = state.machine.state == .open
            if isFirst {
                state.next = next
                state.reset = Deferred()
            }
            return (state.machine.reset(), state.reset.future)
        }
        perform(action)
        return future
    }

    private func perform(_ action: AutocancelStateMachine<Flight>.Action) {
        switch action {
        case .nothing:
            break
        case .cancel(let flights):
            startTimer()
            for flight in flights { flight.task?.cancel() }
        case .resetNext:
            let (next, timer) = state.withLock { ($0.next.take(), $0.timer.take()) }
            timer?.cancel()
            if let next { next.reset().upon(.immediate) { self.finish() } } else { finish() }
        }
    }

    private func startTimer() {
        let timer = ClockTimer(after: grace, clock: clock) { [weak self] in
            for flight in self?.state.withLock({ $0.machine.items }) ?? [] { flight.task?.fail(.cancelled) }
        }
        let isOver = state.withLock { state in
            guard state.machine.state == .draining else { return true }
            state.timer = timer
            return false
        }
        if isOver { timer.cancel() }
    }

    private func finish() {
        let reset = state.withLock { state in
            state.machine.nextWasReset()
            return state.reset
        }
        reset.fill()
    }
}
