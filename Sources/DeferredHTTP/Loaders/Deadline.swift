internal import DeferredCore

/// Limits the time that a request takes in the loaders after this one, attempts, pauses and queues included.
///
/// ```swift
/// let chain = Deadline(.seconds(30)) --> Retry() --> URLSessionLoader()
/// request.deadline = .seconds(2)  // for one request
/// ```
///
/// A request that takes longer fails with ``HTTPError/Code/timedOut``, and the loading under way for it is cancelled: the
/// loaders after this one see a cancellation, and no time-out.
/// After a ``Retry``, each attempt has its own deadline. A response that is a
/// stream has to be read to its end in time, or its reader gets the error.
///
/// Unlike ``HTTPRequest/timeout``, which ends a request that has been idle for a time, this also ends a request that
/// is making progress.
public struct Deadline: HTTPLink, ArrangedLink {
    private let limit: Duration
    private let clock: any Clock<Duration>

    /// Creates the loader.
    ///
    /// - Parameters:
    ///   - limit: The limit for requests without an ``HTTPRequest/deadline``. Limits of zero and less have passed at
    ///     once; limits of 2³² seconds and more never do.
    ///   - clock: The clock by which the time is measured; a manual one in tests.
    public init(_ limit: Duration, clock: any Clock<Duration> = ContinuousClock()) {
        self.limit = limit
        self.clock = clock
    }

    /// Passes the task on, and fails it when its time has passed.
    public func load(_ task: HTTPTask, next: any HTTPLoader) {
        if task.failIfCancelled() { return }
        let limit = task.request.deadline ?? limit
        guard limit > .zero else {
            // A timer could come too late for a loader that answers at once.
            task.fail(.timedOut, reason: Self.reason(limit))
            return
        }
        let end = Lock<(stream: WeakStream, error: HTTPError?)>((WeakStream(), nil))
        let timer = ClockTimer(after: limit, clock: clock) {
            [weak execution = task.execution, request = task.request] in
            let error = HTTPError(.timedOut, request: request, reason: Self.reason(limit))
            _ = execution?.complete(with: .failure(error))
            let stream = end.withLock { end in
                end.error = error
                return end.stream
            }
            stream.fail(with: error)
        }
        task.execution.whenEnded { result in
            guard let body = result.arrived?.stream else { return timer.cancel() }
            let error = end.withLock { end in
                end.stream = body.weak
                return end.error
            }
            body.addEndHandler { _ in timer.cancel() }
            // The time may have passed since the response was there.
            if let error { body.weak.fail(with: error) }
        }
        task.send(task.request, to: next)
    }

    private static func reason(_ limit: Duration) -> String {
        "the request did not complete within \(limit); give it a longer deadline if it may take longer"
    }
}

extension HTTPRequest {
    /// The time limit that ``Deadline`` applies to this request; `nil` for the loader's own limit.
    public var deadline: Duration? {
        get { self[DeadlineOption.self] }
        set { self[DeadlineOption.self] = newValue }
    }
}

private enum DeadlineOption: HTTPRequestOption {
    static let defaultValue: Duration? = nil
}
