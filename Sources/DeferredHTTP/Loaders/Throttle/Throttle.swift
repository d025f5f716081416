internal import DeferredCore

/// Limits the number of requests in flight at a time. The others wait here.
///
/// Requests to the same host go on in order of arrival, and the hosts take turns. The host is that of the request or,
/// if it has none, that of its ``HTTPRequest/environment``; requests that have neither, because an ``ApplyEnvironment``
/// after this loader completes them, count as one more host.
///
/// A request that is cancelled while it waits completes with ``HTTPError/Code/cancelled``, and the next loader never
/// sees it. A response that is a stream keeps its place until the body has ended.
///
/// ```swift
/// let throttle = Throttle(maximum: 8)
/// let chain = throttle --> URLSessionLoader()
/// throttle.maximum = 2     // at once, also for those that wait
/// request.isThrottled = false  // goes by, and doesn't count
/// ```
///
/// Copies share the limit and the count. Two chains that share it and a ``Deduplicate`` have them in the same order:
/// otherwise a request that has the place may wait for the response to one that waits for it. Of a value that is twice in
/// a chain, the first one counts.
public struct Throttle: HTTPLink {
    private let waiting: WaitingTasks<ThrottleStateMachine, any HTTPLoader>

    /// Creates the loader.
    ///
    /// - Parameter maximum: The maximum number of requests in flight; at least 1.
    public init(maximum: Int) {
        waiting = WaitingTasks(ThrottleStateMachine(maximum: maximum))
    }

    /// The maximum number of requests in flight; at least 1. Requests in flight beyond a lowered limit go on.
    public var maximum: Int {
        get { waiting.withMachine { $0.maximum } }
        nonmutating set {
            waiting.withMachine { $0.setMaximum(newValue) }
            startWaiting()
        }
    }

    /// The number of waiting requests.
    public var waitingCount: Int { waiting.withMachine { $0.waitingCount } }

    /// Passes the task on when it is its turn.
    public func load(_ task: HTTPTask, next: any HTTPLoader) {
        guard task.request.isThrottled else { return task.pass(to: next) }
        if task.failIfCancelled() { return }
        let goesOn = waiting.enter(task, next) { machine, ticket in
            // If an ApplyEnvironment comes after this loader, a request may have its own environment.
            machine.arrived(ticket, host: task.request.host ?? task.request.environment?.host ?? "")
        }
        if goesOn { start(task, next) }
    }

    private func start(_ task: HTTPTask, _ next: any HTTPLoader) {
        task.execution.whenEnded { result in
            // A stream keeps its place until its end.
            if let stream = result.arrived?.stream {
                stream.addEndHandler { _ in self.end() }
            } else {
                self.end()
            }
        }
        task.pass(to: next)
    }

    private func end() {
        let mayGoOn = waiting.withMachine { machine in
            machine.ended()
            return machine.waitingCount > 0
        }
        if mayGoOn { startWaiting() }
    }

    /// Starts waiting tasks in a loop: tasks that complete as soon as they are loaded would otherwise start each other
    /// recursively.
    private func startWaiting() {
        Turns.run {
            let waiter = waiting.next { $0.next() }
            if let waiter { waiter.task.execution.later { start(waiter.task, waiter.context) } }
            return waiter != nil
        }
    }
}

extension Throttle: ArrangedLink {
    package var sharedState: AnyObject? { waiting }
}

extension HTTPRequest {
    /// A Boolean value that indicates whether ``Throttle`` counts this request and makes it wait; true by default.
    public var isThrottled: Bool {
        get { self[ThrottledOption.self] }
        set { self[ThrottledOption.self] = newValue }
    }
}

private enum ThrottledOption: HTTPRequestOption {
    static let defaultValue = true
}
