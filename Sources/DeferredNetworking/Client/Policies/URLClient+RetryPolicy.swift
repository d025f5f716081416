internal import DeferredTask
import Foundation

#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

extension URLClient {
    /// Which failures a client tries again, how often, and after which pauses.
    ///
    /// Only requests that may be sent twice are: those with an idempotent method, with a method that is added to
    /// ``methods``, or with an `Idempotency-Key` header. Never one with a one-shot `httpBodyStream`.
    ///
    /// Tried again are the statuses in ``statuses``, failures to connect, lost connections (also a kept-alive one that the
    /// server closed at the same moment), bodies cut short, and the idle and connect-to-head deadlines.
    public struct RetryPolicy: Sendable {
        /// How many attempts there are, the first included; less than 2 for no retries.
        public var attempts = 3

        /// The longest pause after the first attempt. It doubles with each further one.
        public var base: Duration = .milliseconds(200)

        /// The longest pause that the client chooses by itself.
        public var cap: Duration = .seconds(10)

        /// The longest pause that a server may ask for with `Retry-After`; if it asks for more, its response is the result.
        public var longestRetryAfter: Duration = .seconds(60)

        /// The methods that may be sent twice, in upper case.
        public var methods: Set<String> = HTTPMethods.idempotent

        /// The statuses that are worth another attempt.
        public var statuses: Set<Int> = [408, 429, 502, 503, 504]

        /// Whether a request gives up its place among ``Configuration/maximumRequestsInFlight`` during a pause.
        ///
        /// Another request takes the place, and when the pause is over, this one goes before those that have not
        /// begun. For batches, in which one slow server is not to hold up the rest. Without it, a client that meets
        /// trouble sends less.
        public var yieldsPlace = false

        /// What measures the pauses.
        public var clock: any Clock<Duration> = ContinuousClock()

        /// Gives numbers from 0 to 1, by which pauses are shortened so that clients don't come back all at once. What is
        /// beyond is cut; what is no number counts as 1.
        public var random: @Sendable () -> Double = { Double.random(in: 0...1) }

        /// Creates a policy with the defaults.
        public init() {}

        /// Every failure is the result.
        public static var none: Self {
            var policy = Self()
            policy.attempts = 1
            return policy
        }

        /// How long to wait after an attempt, counted from 1; `nil` when the server asks for too much.
        ///
        /// Without `Retry-After`, this is a random part of ``base`` doubled with each attempt, at most ``cap``: "full jitter".
        ///
        /// - Parameters:
        ///   - attempt: The number of the attempt that failed, the first being 1.
        ///   - retryAfter: What the server asked for. It is kept to exactly.
        public func pause(after attempt: Int, retryAfter: Duration? = nil) -> Duration? {
            if let retryAfter {
                return retryAfter <= longestRetryAfter ? min(max(retryAfter, .zero), Self.longestPause) : nil
            }
            let backoff = ExponentialBackoff(base: min(base, Self.longestPause), cap: min(cap, Self.longestPause))
            return backoff.pause(after: attempt, part: random())
        }

        /// More than a century; clocks can't hold every duration.
        private static let longestPause = Duration.seconds(1 << 32)

        /// Whether sending the request twice does no harm, and is possible.
        func mayRepeat(_ request: CheckedRequest) -> Bool {
            guard !request.hasOneShotBody else { return false }
            return methods.contains(request.method.uppercased())
                || request.request.value(forHTTPHeaderField: "Idempotency-Key") != nil
        }

        /// Whether another attempt may do better.
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
