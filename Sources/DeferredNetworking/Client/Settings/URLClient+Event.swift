public import Foundation

#if canImport(FoundationNetworking)
public import FoundationNetworking
#endif

extension URLClient {
    /// An event in the life of a request, for logs and metrics.
    ///
    /// ```swift
    /// configuration.monitor = { event in
    ///     if case .finished(let result) = event.kind { log(event.url, result, event.elapsed, event.received) }
    /// }
    /// ```
    public struct Event: Sendable {
        /// The kind of an event.
        public enum Kind: Sendable {
            /// The request was created.
            case created

            /// A request was handed to the engine, which has the cache if there is one: the first request, or one after a
            /// redirect, a challenge or a pause.
            case sent

            /// There is no network, and the request waits for one, as the session's `waitsForConnectivity` asks. The idle
            /// deadline waits as well; the others don't. Over `URLSession` on Apple's platforms.
            case waitingForConnectivity

            /// The server redirected, and the client follows.
            case redirected(ResponseHead, to: URL)

            /// The server answered `401`, and the client looks for a credential.
            case challenged(ResponseHead)

            /// The response that comes next is from the `cache` of the configuration.
            ///
            /// - Parameters:
            ///   - age: The time since the server made or confirmed it.
            ///   - isConfirmed: Whether the server was asked, and has confirmed that the stored response is still right.
            case cached(age: Duration, isConfirmed: Bool)

            /// The head of a response other than a redirect arrived.
            case response(ResponseHead)

            /// An attempt failed, and the next one will begin after a pause. Attempts count from 1.
            case retried(attempt: Int, after: Duration)

            /// The request ended; `nil` for success. This is its last event, but if the request is cancelled while
            /// another thread is reporting an event, that report may still be going on.
            case finished((any Error)?)
        }

        /// The kind of this event.
        public let kind: Kind

        /// The number of the request, counted from 1 for each client.
        public let request: UInt64

        /// The identifier of the request in a chain of `DeferredHTTP` that ends in this client: the `HTTPTask.id` of the task
        /// that its caller got, which the events of `Log` have as well; `nil` for a request of the client's own.
        ///
        /// All attempts of a request that is retried in the chain have the same, and each is a ``request`` of the client.
        public let task: UUID?

        /// The request as the caller passed it; its headers and URL may hold secrets.
        public let original: URLRequest

        /// The time since the request was created.
        public let elapsed: Duration

        /// The number of bytes of the request's body sent so far, in all attempts.
        public let sent: Int64

        /// The number of bytes of response bodies received so far, in all attempts, after decompression.
        public let received: Int64

        /// The error of the attempt, with ``Kind/retried(attempt:after:)``; `nil` for a status that is accepted.
        public let failure: (any Error)?

        /// The metrics of the last transfer that came to an end, with ``Kind/finished(_:)``, over
        /// ``Configuration/Engine/libcurl``.
        public let metrics: Metrics?
    }
}

extension URLClient.Event: CustomStringConvertible {
    /// One line for a log, without credentials: the request's number, method and URL, the kind, the time, and the byte
    /// counts.
    public var description: String {
        let url = original.url.map { DisplayText.quoted($0) } ?? "without a URL"
        return "#\(request) \(original.httpMethod ?? "GET") \(url): \(kind), after \(elapsed), \(sent) bytes sent, "
            + "\(received) received"
    }
}

extension URLClient.Event.Kind: CustomStringConvertible {
    /// A few words on the kind of event, without credentials.
    public var description: String {
        switch self {
        case .created: "created"
        case .sent: "sent"
        case .waitingForConnectivity: "waiting for a network"
        case .redirected(let response, let target):
            "redirected by \(response.status.code) to \(DisplayText.quoted(target))"
        case .challenged(let response): "challenged with \(response.status.code)"
        case .cached(let age, let isConfirmed): (isConfirmed ? "confirmed" : "from the cache") + ", age \(age)"
        case .response(let response): "response \(response.status.code)"
        case .retried(let attempt, let pause): "attempt \(attempt) failed, retrying in \(pause)"
        case .finished(nil): "finished"
        case .finished(let error as URLClientError): "failed: \(error)"
        case .finished(let error as URLError): "failed: \(error.summary)"
        case .finished(let error?): "failed: \(DisplayText.quoted(error.localizedDescription))"
        }
    }
}
