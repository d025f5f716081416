internal import DeferredCore

/// Writes one line for each request when it ends: method, URL, status or error, time, and size.
///
/// ```swift
/// let chain = Log { logger.info("\($0)") } --> URLSessionLoader()
/// // GET https://host/path?token=…: 200 OK, 345 bytes, 0.012 seconds
/// ```
///
/// Credentials don't appear: see ``HTTPError``. Where it stands in a chain decides what counts: before ``Retry``, a request
/// is one line; after it, each attempt is one.
public struct Log: HTTPLink {
    /// The next loader, set by `-->`.
    public var next: (any HTTPLoader)?
    private let clock: any Clock<Duration>
    private let write: @Sendable (String) -> Void

    /// Creates the loader.
    ///
    /// - Parameters:
    ///   - clock: What measures the time.
    ///   - write: Takes each line, on the thread that completes the request. By default, prints it.
    public init(
        clock: any Clock<Duration> = ContinuousClock(),
        _ write: @escaping @Sendable (String) -> Void = { print($0) }
    ) {
        self.clock = clock
        self.write = write
    }

    /// Passes the task on, and writes its line when it completes.
    public func load(_ task: HTTPTask) {
        let elapsed = Self.stopwatch(clock)
        let request = task.request
        task.addCompletionHandler { [write] result in
            switch result {
            case .success(let response):
                write("\(request): \(response.status), \(response.body.count) bytes, \(elapsed())")
            case .failure(let error):
                write("\(error), \(elapsed())")
            }
        }
        task.pass(to: next)
    }

    private static func stopwatch<C: Clock<Duration>>(_ clock: C) -> @Sendable () -> Duration {
        let start = clock.now
        return { start.duration(to: clock.now) }
    }
}
