internal import DeferredTask
import Foundation

#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

extension URLClient {
    /// The failures that a client retries, the number of attempts, and the pauses between them.
    ///
    /// Only requests that may be sent twice are retried: those with a method in ``methods``, by default the idempotent
    /// ones, or with an `Idempotency-Key` header. A request with a one-shot `httpBodyStream` is never retried.
    ///
    /// The client retries after the statuses in ``statuses``, failures to connect, lost connections (also a kept-alive
    /// one that the server closed at the same moment), bodies cut short, and the idle and connect-to-head deadlines.
    public struct RetryPolicy: Sendable {
        /// The maximum number of attempts, including the first; less than 2 for no retries.
        public var attempts = 3

        /// The longest pause after the first attempt. It doubles with each further attempt.
        public var base: Duration = .milliseconds(200)

        /// The longest pause that the client chooses by itself.
        public var cap: Duration = .seconds(10)

        /// The longest pause that a server may ask for with `Retry-After`; if it asks for more, its response is the
        /// result.
        public var longestRetryAfter: Duration = .seconds(60)

        /// The methods that may be sent twice, in upper case.
        public var methods: Set<String> = HTTPMethods.idempotent

        /// The statuses that are worth another attempt.
        public var statuses: Set<Int> = [408, 429, 502, 503, 504]

        /// A Boolean value that indicates whether a request gives up its place among
        /// ``Configuration/maximumRequestsInFlight`` during a pause.
        ///
        /// Another request takes the place, and after the pause, this one goes before those that have not begun. For
        /// batches in which one slow server must not hold up the rest. Without it, a client that meets trouble sends
        /// less.
        public var yieldsPlace = false

        /// The clock that measures the pauses.
        public var clock: any Clock<Duration> = ContinuousClock()

        /// A closure that returns random numbers from 0 to 1, which shorten the pauses so that clients don't all return
        /// at once. Numbers outside this range are clamped; NaN counts as 1.
        public var random: @Sendable () -> Double = { Double.random(in: 0...1) }

        /// Creates a policy with the defaults.
        public init() {}

        /// A policy without retries.
        public static var none: Self {
            var policy = Self()
            policy.attempts = 1
            return policy
        }

        /// Returns the pause after an attempt, or `nil` when the server asks for a longer one than
        /// ``longestRetryAfter``.
        ///
        /// Without `Retry-After`, the pause is a random part of ``base`` doubled with each attempt, at most ``cap``:
        /// "full jitter".
        ///
        /// - Parameters:
        ///   - attempt: The number of the attempt that failed, counted from 1.
        ///   - retryAfter: The pause that the server asked for, which is used unchanged.
        public func pause(after attempt: Int, retryAfter: Duration? = nil) -> Duration? {
            if let retryAfter {
                return retryAfter <= longestRetryAfter ? min(max(retryAfter, .zero), Self.longestPause) : nil
            }
            let backoff = ExponentialBackoff(base: min(base, Self.longestPause), cap: min(cap, Self.longestPause))
            return backoff.pause(after: attempt, part: random())
        }

        /// The longest pause, more than a century: clocks can't represent every duration.
        private static let longestPause = Duration.seconds(1 << 32)

        /// Returns true if the request is safe to repeat and can be sent again.
        func mayRepeat(_ request: CheckedRequest) -> Bool {
            guard !request.hasOneShotBody else { return false }
            return methods.contains(request.method.uppercased())
                || request.value(of: "Idempotency-Key") != nil
        }

        /// Returns true if another attempt may succeed after this error.
        package static func isTransient(_ error: any Error) -> Bool {
            switch error {
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
}
