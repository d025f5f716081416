internal import DeferredNetworking
import Foundation

#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

/// Decides after which results to try again, and after what pause. See ``Retry``.
///
/// ```swift
/// request.retryStrategy = .never
/// request.retryStrategy = .custom { attempt in
///     attempt.number < 3 && attempt.response?.status == .conflict ? .seconds(1) : nil
/// }
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

        /// The response, if there was one.
        public var response: HTTPResponse? { try? result.get() }

        /// The failure, if there was no response.
        public var error: HTTPError? {
            if case .failure(let error) = result { error } else { nil }
        }
    }

    let pause: @Sendable (Attempt) -> Duration?

    /// A strategy that never tries again.
    public static let never = RetryStrategy { _ in nil }

    /// Creates a strategy that asks a closure after each attempt, except those that were cancelled.
    ///
    /// - Parameter pause: Returns the pause before the next attempt, or `nil` if there is to be none.
    public static func custom(_ pause: @escaping @Sendable (Attempt) -> Duration?) -> RetryStrategy {
        RetryStrategy(pause: pause)
    }

    /// Creates a strategy that tries again where that is safe and may help: after failures to connect, lost
    /// connections, time-outs, and the statuses 408, 429, 502, 503 and 504.
    ///
    /// Repeating a request is safe if its method is idempotent or it has an `Idempotency-Key`. Its body has to be one
    /// that can be sent again.
    ///
    /// - Parameters:
    ///   - attempts: The number of attempts, the first included.
    ///   - base: The upper limit of the pause after the first attempt. It doubles with each further attempt.
    ///   - cap: The upper limit of all pauses that are not requested by the server. Each pause is a random part of its
    ///     limit.
    ///   - longestRetryAfter: The longest pause that a server may request with `Retry-After`, in seconds or as a date.
    ///     Such a pause is kept exactly; if the server requests a longer one, its response is the result.
    ///   - random: Returns numbers from 0 to 1, by which pauses are multiplied.
    public static func backoff(
        attempts: Int = 3,
        base: Duration = .milliseconds(200),
        cap: Duration = .seconds(10),
        longestRetryAfter: Duration = .seconds(60),
        random: @escaping @Sendable () -> Double = { Double.random(in: 0...1) }
    ) -> RetryStrategy {
        var policy = URLClient.RetryPolicy()
        (policy.base, policy.cap, policy.longestRetryAfter, policy.random) = (base, cap, longestRetryAfter, random)
        return RetryStrategy { [policy] attempt in
            // The cheap checks first, since most attempts succeed.
            guard attempt.number < attempts else { return nil }
            guard let response = attempt.response else {
                return attempt.isTransientFailure && attempt.request.mayBeRepeated
                    ? policy.pause(after: attempt.number) : nil
            }
            guard !response.status.isSuccess, policy.statuses.contains(response.status.code),
                attempt.request.mayBeRepeated
            else { return nil }
            return policy.pause(after: attempt.number, retryAfter: response.retryAfter)
        }
    }
}

extension RetryStrategy.Attempt {
    /// True if another attempt may succeed. The client's own errors decide; other terminal loaders may give only a
    /// code.
    fileprivate var isTransientFailure: Bool {
        switch error?.underlying {
        case let underlying as URLError: URLClient.RetryPolicy.isTransient(underlying)
        case let underlying as URLClientError: URLClient.RetryPolicy.isTransient(underlying)
        case is MissingTerminalLoader: false
        default: [.cannotConnect, .connectionLost, .timedOut].contains(error?.code)
        }
    }
}

extension HTTPRequest {
    /// True if sending the request twice does no harm.
    var mayBeRepeated: Bool { !body.isOneShot && (method.isIdempotent || headers["Idempotency-Key"] != nil) }
}

extension HTTPResponse {
    fileprivate var retryAfter: Duration? {
        RetryAfter.pause(field: headers["Retry-After"], date: headers["Date"], now: Date())
    }
}
