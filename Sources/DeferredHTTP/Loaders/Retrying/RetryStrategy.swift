internal import DeferredNetworking
import Foundation

#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

/// Decides which results are worth another attempt, and after which pause. See ``Retry``.
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
        /// Counts the attempts, from 1.
        public let number: Int

        /// The request that was loaded.
        public let request: HTTPRequest

        /// The result of the attempt.
        public let result: HTTPResult

        /// The response, if one came.
        public var response: HTTPResponse? { try? result.get() }

        /// The failure, if there was no response.
        public var error: HTTPError? {
            if case .failure(let error) = result { error } else { nil }
        }
    }

    let pause: @Sendable (Attempt) -> Duration?

    /// No request is tried again.
    public static let never = RetryStrategy { _ in nil }

    /// Asks a closure after each attempt but those that were cancelled.
    ///
    /// - Parameter pause: Gives the pause before the next attempt, or `nil` if there is to be none.
    public static func custom(_ pause: @escaping @Sendable (Attempt) -> Duration?) -> RetryStrategy {
        RetryStrategy(pause: pause)
    }

    /// Tries again what may be sent twice and may do better: failures to connect, lost connections, time-outs, and the
    /// statuses 408, 429, 502, 503 and 504.
    ///
    /// A request may be sent twice if its method is idempotent, or if it has an `Idempotency-Key`, and if its body can
    /// be.
    ///
    /// - Parameters:
    ///   - attempts: How many there are, the first included.
    ///   - base: The longest pause after the first attempt. It doubles with each further one.
    ///   - cap: The longest pause that isn't asked for by the server. Of both, a random part is taken.
    ///   - longestRetryAfter: The longest pause that a server may ask for with `Retry-After`, in seconds or as a date.
    ///     It is kept to exactly; if it is longer, the response is the result.
    ///   - random: Gives numbers from 0 to 1, by which pauses are shortened.
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
            // The cheap questions first, for most attempts succeed.
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
    /// As the client says where it is the client's; other terminal loaders may give only a code.
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
    /// Whether sending it twice does no harm.
    var mayBeRepeated: Bool { !body.isOneShot && (method.isIdempotent || headers["Idempotency-Key"] != nil) }
}

extension HTTPResponse {
    fileprivate var retryAfter: Duration? {
        RetryAfter.pause(field: headers["Retry-After"], date: headers["Date"], now: Date())
    }
}
