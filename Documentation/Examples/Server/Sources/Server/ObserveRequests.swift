import Deferred
import Logging
import Metrics

/// Logs and counts requests: method, host, status and duration.
///
/// Before `Retry`, it sees each request once; after it, each attempt.
struct ObserveRequests: HTTPLink {
    let logger: Logger
    var metrics: any MetricsFactory = MetricsSystem.factory
    var clock: any Clock<Duration> = ContinuousClock()

    func load(_ task: HTTPTask, next: any HTTPLoader) {
        let elapsed = stopwatch(clock)
        task.addCompletionHandler { [id = task.id] result in note(result, id, after: elapsed()) }
        task.pass(to: next)
    }

    private func note(_ result: HTTPResult, _ id: HTTPTask.ID, after duration: Duration) {
        // As it was sent: what comes later in the chain may have set the host.
        let (request, status) =
            switch result {
            case .success(let response): (response.request, "\(response.status.code)")
            case .failure(let error):
                (error.request, error.response.map { "\($0.status.code)" } ?? error.code.rawValue)
            }
        let (method, host) = ("\(request.method)", request.host ?? "")
        // A label for each path would be one for each user or file.
        let labels = [("method", method), ("host", host), ("status", status)]
        Counter(label: "http_requests", dimensions: labels, factory: metrics).increment()
        Timer(label: "http_duration", dimensions: labels, factory: metrics).record(duration: duration)

        let metadata: Logger.Metadata = [
            "method": "\(method)", "host": "\(host)", "status": "\(status)", "duration": "\(duration)",
            "request": "\(id)",
        ]
        // Descriptions of requests and errors leave out what looks like a secret: credentials, tokens, keys in a query.
        switch result {
        case .success: logger.info("\(request)", metadata: metadata)
        case .failure(let error): logger.warning("\(error)", metadata: metadata)
        }
    }
}

/// Returns a closure that returns the time since now.
private func stopwatch<C: Clock<Duration>>(_ clock: C) -> @Sendable () -> Duration {
    let start = clock.now
    return { start.duration(to: clock.now) }
}
