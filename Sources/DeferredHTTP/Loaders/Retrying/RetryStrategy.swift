public import DeferredNetworking
internal import DeferredTask
import Foundation

#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

/// Decides after which results to try again, and after what pause. See ``Retry``.
///
/// ```swift
/// request.retryStrategy = .never
/// request.retryStrategy = .backoff().or(.custom { attempt in
///     attempt.number < 3 && attempt.response?.status == .forbidden ? attempt.response?.retryAfter : nil
/// })
/// ```
public struct RetryStrategy: Sendable {
    /// An attempt, and its result.
    public struct Attempt: Sendable {
        /// The number of the attempt, counted from 1.
        public let number: Int

        /// The request that was loaded.
        public let request: HTTPRequest

        /// The result of the attempt.
        public let result: HTTPResult

        /// Creates an attempt, for a test of a strategy.
        public init(number: Int, request: HTTPRequest, result: HTTPResult) {
            self.number = number
            self.request = request
            self.result = result
        }

        /// The response, if there was one, also one that ``Validate`` has refused.
        public var response: HTTPResponse? {
            switch result {
            case .success(let response): response
            case .failure(let error): error.response
            }
        }

        /// The failure, if the attempt failed.
        public var error: HTTPError? {
            if case .failure(let error) = result { error } else { nil }
        }
    }

    /// Returns the pause before the next attempt, or `nil` if there is to be none.
    public let pause: @Sendable (Attempt) -> Duration?

    /// Returns a strategy that asks `other` where this one would not try again.
    public func or(_ other: RetryStrategy) -> RetryStrategy {
        RetryStrategy { [pause] attempt in pause(attempt) ?? other.pause(attempt) }
    }

    /// A strategy that never tries again.
    public static let never = RetryStrategy { _ in nil }

    /// Creates a strategy that asks a closure after each attempt, except those that were cancelled.
    ///
    /// - Parameter pause: Returns the pause before the next attempt, or `nil` if there is to be none.
    public static func custom(_ pause: @escaping @Sendable (Attempt) -> Duration?) -> RetryStrategy {
        RetryStrategy(pause: pause)
    }

    /// Creates a strategy that tries again where that is safe and may help: after failures to connect, lost
    /// connections, time-outs, and the statuses 408, 429, 502, 503 and 504. A token that could not be fetched for one of
    /// these reasons counts like the request itself.
    ///
    /// Repeating a request is safe if its method is idempotent, it has an `Idempotency-Key`, or it says so itself:
    /// ``HTTPRequest/isRepeatable``. Its body has to be one that can be sent again.
    ///
    /// - Parameters:
    ///   - attempts: The number of attempts, the first included.
    ///   - base: The upper limit of the pause after the first attempt. It doubles with each further attempt.
    ///   - cap: The upper limit of all pauses that are not requested by the server. Each pause is a random part of its
    ///     limit.
    ///   - longestRetryAfter: The longest pause that a server may request: see ``HTTPResponse/retryAfter``. Such a pause
    ///     is kept exactly; if the server requests a longer one, its response is the result.
    ///   - methods: The methods that are safe to repeat.
    ///   - random: Returns numbers from 0 to 1, by which pauses are multiplied.
    public static func backoff(
        attempts: Int = 3,
        base: Duration = .milliseconds(200),
        cap: Duration = .seconds(10),
        longestRetryAfter: Duration = .seconds(60),
        methods: Set<HTTPMethod> = HTTPMethod.idempotent,
        random: @escaping @Sendable () -> Double = { Double.random(in: 0...1) }
    ) -> RetryStrategy {
        var retries = URLClient.Retries()
        retries.policy = RetryPolicy(
            attempts: max(1, attempts),
            base: base,
            cap: cap,
            random: random,
            isRetryable: { ($0 as? HTTPError)?.isTransient ?? false }
        )
        retries.longestRetryAfter = longestRetryAfter
        retries.methods = methods
        return RetryStrategy { [retries] attempt in
            // A request without a token fails as the refresh has failed.
            let response = attempt.response ?? attempt.error?.refreshResponse
            return retries.pause(
                after: attempt.number,
                status: response?.status,
                error: attempt.error,
                mayRepeat: retries.mayRepeat(
                    method: attempt.request.method,
                    isKeyed: attempt.request.isRepeatable || attempt.request.headers["Idempotency-Key"] != nil,
                    hasOneShotBody: attempt.request.body.isOneShot,
                    after: attempt.error?.underlying
                ),
                retryAfter: response?.retryAfter
            )
        }
    }
}

extension HTTPError {
    /// The response to the request that was to fetch a token.
    fileprivate var refreshResponse: HTTPResponse? {
        code == .authenticationFailed ? (underlying as? HTTPError)?.response : nil
    }

    /// True if another attempt may succeed. The client's own errors decide; other terminal loaders may give only a
    /// code.
    var isTransient: Bool {
        if code == .unacceptableStatus || code == .invalidResponse, let response {
            return URLClient.Retries().statuses.contains(response.status)
        }
        if isOfInvalidChain { return false }
        return switch underlying {
        case let underlying? where underlying is URLError || underlying is URLClientError:
            URLClient.Retries.isTransient(underlying)
        case let cause as HTTPError where code == .authenticationFailed: cause.isTransient
        default: [.cannotConnect, .connectionLost, .timedOut].contains(code)
        }
    }
}
