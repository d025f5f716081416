public import DeferredCore
internal import DeferredTask

/// Cancels the requests in flight when the chain is reset.
///
/// The reset ends when all of them have completed and the other loaders have then been reset. A request that arrives
/// meanwhile, which ``ResetGuard`` prevents, is cancelled as well.
///
/// A loader that ignores the cancellation can't hold up a reset: requests that have not completed after a grace period
/// are completed here, with ``HTTPError/Code/cancelled``.
///
/// Copies share the requests in flight: one value in two chains cancels the requests of both when either is reset. A
/// response that is a stream is in flight until its body has ended, and a reset ends it.
///
/// It may stand anywhere in a chain: see ``HTTPChain``. A custom loader that lets requests wait, or loads them again,
/// comes after it.
///
/// A reset out of an ``Intercept`` cancels the request of that closure first, and does not wait for it.
///
/// **Lifetime:** tasks are not kept beyond their completion.
public struct Autocancel: HTTPLink {
    let inFlight: InFlightRequests

    /// Creates the loader.
    ///
    /// - Parameters:
    ///   - grace: The time that a reset waits for cancelled tasks to complete.
    ///   - clock: The clock by which that time is measured.
    public init(grace: Duration = .seconds(5), clock: any Clock<Duration> = ContinuousClock()) {
        inFlight = InFlightRequests(grace: grace, clock: clock)
    }

    /// Passes the task on, and keeps track of it.
    public func load(_ task: HTTPTask, next: any HTTPLoader) {
        if !inFlight.add(task.execution) { task.cancel() }
        task.pass(to: next)
    }

    /// Cancels the requests in flight, and waits for them. In a chain, this is a part of the chain's reset.
    public func reset() -> Future<Void> { inFlight.drain().map { [inFlight] in inFlight.reopen() } }
}

extension Autocancel: ArrangedLink {
    package var sharedState: AnyObject? { inFlight }
}

/// The requests and streams in flight of an ``Autocancel`` and its copies, or those that a loader sends by itself.
package final class InFlightRequests: Sendable {
    /// An execution or a response's stream, which a reset cancels.
    private enum InFlight: Sendable {
        case execution(HTTPExecution)
        /// Indirect, since a weak reference is moved by the runtime.
        indirect case stream(WeakStream)

        var asExecution: HTTPExecution? {
            if case .execution(let execution) = self { execution } else { nil }
        }

        func cancel() {
            switch self {
            case .execution(let execution): execution.cancel()
            case .stream(let stream): stream.cancel()
            }
        }

        /// Cancels and completes an execution that starts the reset, and would wait for itself.
        func end(ifDescendantOf roots: [Identity]) {
            guard let execution = asExecution, roots.contains(execution.identity) else { return }
            execution.cancel()
            execution.fail(.cancelled)
        }
    }

    private struct State: Sendable {
        /// The number of resets under way, which let nothing in.
        var resetCount = 0
        var inFlight = NumberedList<InFlight>()
        /// Filled when nothing is in flight any more.
        var idle: Deferred<Void>?

        /// The newest first: a newer one may wait for older ones.
        var newestFirst: [InFlight] { inFlight.elements.reversed() }
    }

    private let grace: Duration
    private let clock: any Clock<Duration>
    private let state = Lock(State())

    package init(grace: Duration, clock: any Clock<Duration>) {
        self.grace = grace
        self.clock = clock
    }

    /// Keeps track of an execution; returns false during a reset.
    package func add(_ execution: HTTPExecution) -> Bool {
        let number = state.withLock { $0.resetCount == 0 ? $0.inFlight.append(.execution(execution)) : nil }
        guard let number else { return false }
        execution.whenEnded { result in
            if let stream = result.arrived?.stream { self.add(stream) }
            self.left(number)
        }
        return true
    }

    private func add(_ stream: HTTPBodyStream) {
        // A stream that arrives while a reset waits for its execution has to be ended, too.
        let (number, isToStop) = state.withLock { state in
            (state.inFlight.append(.stream(stream.weak)), state.resetCount > 0)
        }
        stream.addEndHandler { _ in self.left(number) }
        if isToStop { stream.cancel() }
    }

    private func left(_ number: Int) {
        // What has left is released outside of the lock.
        let (gone, idle) = state.withLock { state in
            let gone = state.inFlight.remove(number)
            return (gone, state.inFlight.isEmpty ? state.idle.take() : nil)
        }
        withExtendedLifetime(gone) {}
        idle?.fill()
    }

    /// Cancels everything in flight, and lets nothing in until ``reopen()``; the future is filled when all of it has ended.
    package func drain() -> Future<Void> {
        let (inFlight, idle) = state.withLock { state in
            state.resetCount += 1
            let inFlight = state.newestFirst
            let idle = state.idle ?? Deferred()
            if !inFlight.isEmpty { state.idle = idle }
            return (inFlight, idle)
        }
        if inFlight.isEmpty { return Future(value: ()) }
        // No waiting task is started before all executions are cancelled, on this thread or another.
        for request in inFlight { request.asExecution?.prepareToStop() }
        let own = Intercept.requests
        Turns.hold {
            for request in inFlight { request.end(ifDescendantOf: own) }
            for request in inFlight { request.cancel() }
        }
        if idle.isFilled { return idle.future }
        // Completes those that have ignored the cancellation.
        let timer = ClockTimer(after: grace, clock: clock) { [weak self] in
            for request in self?.state.withLock({ $0.newestFirst }) ?? [] { request.asExecution?.fail(.cancelled) }
        }
        idle.upon(.immediate) { timer.cancel() }
        return idle.future
    }

    /// Cancels and completes the requests of a closure that waits for a reset under way, which would wait for it.
    func end(of requests: [Identity]) {
        for request in state.withLock({ $0.newestFirst }) { request.end(ifDescendantOf: requests) }
    }

    package func reopen() { state.withLock { $0.resetCount -= 1 } }
}
