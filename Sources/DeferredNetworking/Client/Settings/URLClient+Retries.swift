public import DeferredTask
import Foundation

#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

extension URLClient {
    /// The requests and outcomes that are worth another attempt, the number of attempts, and the pauses between them.
    ///
    /// Only requests that may be sent twice are retried: those with a method in ``methods``, by default the idempotent
    /// ones, or with an `Idempotency-Key` header; and those that the server said it has not processed, as it can over
    /// HTTP/2. A request with a one-shot `httpBodyStream` is never retried.
    ///
    /// The client retries after the statuses in ``statuses``, failures to connect, lost connections (also a kept-alive
    /// one that the server closed at the same moment), bodies cut short, and the idle and connect-to-head deadlines. A
    /// proxy that refuses to connect is asked again only after a 502, 503 or 504.
    ///
    /// The closures of ``policy`` are called on internal threads, or on the one that begins a request, before the task is
    /// returned; they must not block.
    ///
    /// An engine may send an idempotent request a second time within one attempt, if the server closes a kept connection
    /// without an answer: RFC 9112, section 9.3.1. ``attempts`` and ``URLClient/Metrics`` don't count it, and ``none``
    /// doesn't prevent it.
    ///
    /// The properties of ``policy`` are also properties of this value:
    ///
    /// ```swift
    /// var retries = URLClient.Retries()
    /// retries.attempts = 5
    /// retries.cap = .seconds(30)
    /// retries.statuses.insert(500)
    /// ```
    @dynamicMemberLookup
    public struct Retries: Sendable {
        /// The number of attempts, the pauses that the client chooses by itself, and the errors that are retried.
        ///
        /// By default, three attempts with pauses of up to 200 ms, doubled up to 10 s, after the failures above.
        public var policy = DeferredTask.RetryPolicy(
            attempts: 3,
            base: .milliseconds(200),
            cap: .seconds(10),
            random: { Double.random(in: 0...1) },
            isRetryable: Self.isTransient
        ).withLibraryClosures()

        /// The longest pause that a server may ask for with `Retry-After`; if it asks for more, its response is the
        /// result.
        public var longestRetryAfter: Duration = .seconds(60)

        /// The methods that may be sent twice. For a read by `POST`, add that to those of the request's own options.
        public var methods: Set<HTTPMethod> = HTTPMethod.idempotent

        /// The statuses that are worth another attempt.
        public var statuses: Set<HTTPStatus> = [408, 429, 502, 503, 504]

        /// A Boolean value that indicates whether a request gives up its place among
        /// ``Configuration/maximumRequestsInFlight`` during a pause.
        ///
        /// Another request takes the place, and after the pause, this one goes before those that have not begun. For
        /// batches in which one slow server must not hold up the rest. Without it, a client that meets trouble sends
        /// less.
        public var yieldsPlace = false

        /// Creates the defaults.
        public init() {}

        /// No retries.
        public static var none: Self {
            var retries = Self()
            retries.attempts = 1
            return retries
        }

        /// The maximum number of attempts, including the first; less than 2 for no retries.
        public var attempts: Int {
            get { policy.attempts }
            set { policy.attempts = max(1, newValue) }
        }

        /// Accesses a property of ``policy``, such as its clock.
        public subscript<Value>(dynamicMember property: WritableKeyPath<DeferredTask.RetryPolicy, Value>) -> Value {
            get { policy[keyPath: property] }
            set { policy[keyPath: property] = newValue }
        }
    }
}

// MARK: Deciding

extension URLClient.Retries {
    /// Returns the pause before another attempt, or `nil` if this one is the last.
    ///
    /// - Parameters:
    ///   - attempt: The number of the attempt, counted from 1.
    ///   - status: The status of the response, if there was one, whether it is accepted or not.
    ///   - error: The failure, if the attempt failed.
    ///   - mayRepeat: Whether the request may be sent twice. Only asked if another attempt is worth it.
    ///   - retryAfter: The pause that the response asks for. Only asked for a status that is worth another attempt.
    package func pause(
        after attempt: Int,
        status: HTTPStatus?,
        error: (any Error)?,
        mayRepeat: @autoclosure () -> Bool,
        retryAfter: @autoclosure () -> Duration?
    ) -> Duration? {
        if let status, statuses.contains(status) {
            guard attempt < policy.attempts, mayRepeat() else { return nil }
            guard let asked = retryAfter() else { return policy.pause(after: attempt) }
            return asked <= longestRetryAfter ? max(asked, .zero) : nil
        }
        guard let error, policy.allowsAnother(after: attempt, error), mayRepeat() else { return nil }
        return policy.pause(after: attempt)
    }

    /// Returns true if a request may be sent again after this error.
    package func mayRepeat(
        method: HTTPMethod,
        isKeyed: Bool,
        hasOneShotBody: Bool,
        after error: (any Error)? = nil
    ) -> Bool {
        guard !hasOneShotBody else { return false }
        return isKeyed || methods.contains(method) || FailureCause(of: error) == .notProcessed
    }

    /// Returns true if another attempt may succeed after this error.
    package static func isTransient(_ error: any Error) -> Bool {
        if case .refusedByProxy(let status) = FailureCause(of: error) { return [502, 503, 504].contains(status) }
        return switch error {
        case let error as URLError: transientFailures.contains(error.code)
        case let error as URLClientError: if case .truncatedBody = error.code { true } else { false }
        default: false
        }
    }

    private static let transientFailures: Set<URLError.Code> = [
        .timedOut, .cannotFindHost, .cannotConnectToHost, .dnsLookupFailed, .networkConnectionLost,
        .notConnectedToInternet, .requestBodyStreamExhausted,
    ]
}
