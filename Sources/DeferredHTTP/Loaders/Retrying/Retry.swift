internal import DeferredCore
internal import DeferredTask

/// Loads failed requests again, after a pause, as a strategy decides.
///
/// ```swift
/// let chain = Retry(.backoff(attempts: 5)) --> URLSessionLoader()
/// request.retryStrategy = .never  // for one request
/// ```
///
/// A task that is cancelled in a pause completes at once with ``HTTPError/Code/cancelled``, and the next loader sees no
/// further attempt. Otherwise the result is that of the last attempt.
public struct Retry: HTTPLink, ArrangedLink {
    private let strategy: RetryStrategy
    private let clock: any Clock<Duration>

    /// Creates the loader.
    ///
    /// - Parameters:
    ///   - strategy: The strategy for requests without an ``HTTPRequest/retryStrategy``.
    ///   - clock: The clock by which the pauses are measured; a manual one in tests.
    public init(_ strategy: RetryStrategy = .backoff(), clock: any Clock<Duration> = ContinuousClock()) {
        self.strategy = strategy
        self.clock = clock
    }

    /// Passes the task on, as often as the strategy decides.
    public func load(_ task: HTTPTask, next: any HTTPLoader) {
        begin(1, task, next)
    }

    private func begin(_ number: Int, _ task: HTTPTask, _ next: any HTTPLoader) {
        task.execution.tell(.attempt(number))
        task.send(task.request, to: next) { [self] result in
            let attempt = RetryStrategy.Attempt(number: number, request: task.request, result: result)
            guard !task.execution.isToStop, attempt.error?.code != .cancelled, !task.request.body.isOneShot,
                let pause = (task.request.retryStrategy ?? strategy).pause(attempt)
            else {
                task.complete(with: result)
                return
            }
            if let response = attempt.response {
                response.stream?.cancel()
                task.execution.tell(.response(response.status))
            }
            task.wait(for: pause, clock) {
                task.execution.later { begin(number + 1, task, next) }
            }
        }
    }
}

extension HTTPTask {
    /// Calls `body` after a pause, or fails the task with `.cancelled` if it is cancelled before.
    fileprivate func wait(for pause: Duration, _ clock: any Clock<Duration>, then body: @escaping @Sendable () -> Void)
    {
        // Attempts that are answered at once don't recurse: executions limit how deeply results are passed up.
        guard pause > .zero else { return body() }
        let registrations = Deferred<(cancellation: Registration, completion: Registration)>()
        let timer = ClockTimer(after: pause, clock: clock) {
            registrations.upon(.immediate) { registrations in
                registrations.cancellation.cancel()
                registrations.completion.cancel()
                // Otherwise the cancellation came first.
                if registrations.cancellation.isCancelled { body() }
            }
        }
        let completion = addCompletionHandler { _ in timer.cancel() }
        // The handler retains the task until the pause or the task has ended; the timer of an endless pause would not.
        let cancellation = addCancellationHandler { self.fail(.cancelled) }
        registrations.fill(with: (cancellation, completion))
    }
}

extension HTTPRequest {
    /// The strategy by which ``Retry`` tries this request again; `nil` for the loader's own strategy.
    public var retryStrategy: RetryStrategy? {
        get { self[RetryStrategyOption.self] }
        set { self[RetryStrategyOption.self] = newValue }
    }

    /// A Boolean value that indicates whether the request may be sent twice although its method doesn't say so.
    ///
    /// Set it for a `POST` that only reads, such as a search. ``RetryStrategy/backoff(attempts:base:cap:longestRetryAfter:methods:random:)``
    /// looks at it; the server sees nothing of it.
    public var isRepeatable: Bool {
        get { self[RepeatableOption.self] }
        set { self[RepeatableOption.self] = newValue }
    }
}

private enum RepeatableOption: HTTPRequestOption {
    static let defaultValue = false
}

private enum RetryStrategyOption: HTTPRequestOption {
    static let defaultValue: RetryStrategy? = nil
}
