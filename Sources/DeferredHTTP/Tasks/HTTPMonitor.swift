internal import DeferredCore

/// The observers of an execution's events between its start and its end.
final class HTTPMonitor: Sendable {
    enum News: Sendable {
        /// An attempt starts, counted from 1.
        case attempt(Int)
        /// The response to an attempt that is followed by another one.
        case response(HTTPStatus)
    }

    private let bodies = Lock<[@Sendable (News) -> Void]>([])

    func add(_ body: @escaping @Sendable (News) -> Void) {
        bodies.withLock { $0.append(body) }
    }

    func tell(_ news: News) {
        for body in bodies.withLock({ $0 }) { body(news) }
    }
}
