import Deferred
import Logging
import Metrics

/// Hands what a chain and its client report to swift-log and swift-metrics.
///
/// Every line about a request has its identifier, also those about its attempts and transfers; it counts once as a
/// request, and as often as it was sent as a transfer.
struct Observer: Sendable {
    let logger: Logger

    /// Notes an event of a chain.
    func note(_ event: Log.Event) {
        let logger = logger(for: event.id)
        switch event.kind {
        case .ended(let result, _):
            let dimensions = [("result", Self.outcome(of: result))]
            Counter(label: "http_requests", dimensions: dimensions).increment()
            Timer(label: "http_request_duration", dimensions: dimensions).record(duration: event.elapsed)
            if case .failure = result { logger.warning("\(event)") } else { logger.info("\(event)") }
        case .attempt(let number) where number > 1:
            Counter(label: "http_retries").increment()
            logger.notice("\(event)")
        default:
            logger.debug("\(event)")
        }
    }

    /// Notes an event of a `URLClient`, on whose threads it is called.
    func note(_ event: URLClient.Event) {
        logger(for: event.task).trace("\(event)")
        guard case .finished(let error) = event.kind else { return }
        Counter(label: "http_transfers", dimensions: [("result", error == nil ? "ok" : "failed")]).increment()
        Counter(label: "http_received_bytes").increment(by: event.received)
        // Metrics of the transfer itself come from libcurl only.
        if event.metrics?.isReused == true { Counter(label: "http_kept_connections").increment() }
    }

    private func logger(for request: HTTPTask.ID?) -> Logger {
        var logger = logger
        if let request { logger[metadataKey: "request"] = "\(request)" }
        return logger
    }

    private static func outcome(of result: HTTPResult) -> String {
        switch result {
        case .success(let response): "\(response.status.code)"
        case .failure(let error): error.response.map { "\($0.status.code)" } ?? error.code.rawValue
        }
    }
}
