public import Foundation

#if canImport(FoundationNetworking)
public import FoundationNetworking
#endif

extension URLClient {
    /// Something that happened to a request, for logs and metrics.
    ///
    /// ```swift
    /// configuration.monitor = { event in
    ///     if case .finished(let result) = event.kind { log(event.url, result, event.elapsed, event.received) }
    /// }
    /// ```
    public struct Event: Sendable {
        /// What happened.
        public enum Kind: Sendable {
            /// The client was asked for the request.
            case created

            /// A request went to the session: the first one, or one after a redirect, a challenge or a pause.
            case sent

            /// The server redirected, and the client follows.
            case redirected(HTTPURLResponse, to: URL)

            /// The server answered `401`, and the client looks for a credential.
            case challenged(HTTPURLResponse)

            /// The head of a response came that is not a redirect.
            case response(HTTPURLResponse)

            /// An attempt failed, and another one will begin after a pause. Attempts count from 1.
            case retried(attempt: Int, after: Duration)

            /// The end: `nil` for a success. The last event of a request; only one that is being told on another thread
            /// at that moment, when the request is cancelled, may still be.
            case finished((any Error)?)
        }

        /// What happened.
        public let kind: Kind

        /// Counts the requests of the client, from 1.
        public let request: UInt64

        /// What the caller asked for; headers and URL may hold secrets.
        public let original: URLRequest

        /// Since the request was created.
        public let elapsed: Duration

        /// Bytes of the request's body that were sent so far, in all attempts.
        public let sent: Int64

        /// Bytes of responses' bodies that were received so far, in all attempts, after decompression.
        public let received: Int64

        /// With ``Kind/retried(attempt:after:)``: what the attempt failed with; `nil` for a status that is accepted.
        public let failure: (any Error)?

        /// With ``Kind/finished(_:)``, over ``Configuration/Engine/libcurl``: of the last transfer that came to an end.
        public let metrics: Metrics?
    }
}

extension URLClient.Event: CustomStringConvertible {
    /// One line for a log: the request's number, method and URL, what happened, when, and the bytes; without
    /// credentials.
    public var description: String {
        let url = original.url.map { DisplayText.quoted($0) } ?? "without a URL"
        return "#\(request) \(original.httpMethod ?? "GET") \(url): \(kind), after \(elapsed), \(sent) bytes sent, "
            + "\(received) received"
    }
}

extension URLClient.Event.Kind: CustomStringConvertible {
    /// What happened, in a few words without credentials.
    public var description: String {
        switch self {
        case .created: "created"
        case .sent: "sent"
        case .redirected(let response, let target):
            "redirected by \(response.statusCode) to \(DisplayText.quoted(target))"
        case .challenged(let response): "challenged with \(response.statusCode)"
        case .response(let response): "response \(response.statusCode)"
        case .retried(let attempt, let pause): "attempt \(attempt) is followed by another after \(pause)"
        case .finished(nil): "finished"
        case .finished(let error as URLClientError): "failed: \(error)"
        case .finished(let error as URLError): "failed: \(error.summary)"
        case .finished(let error?): "failed: \(DisplayText.quoted(error.localizedDescription))"
        }
    }
}
