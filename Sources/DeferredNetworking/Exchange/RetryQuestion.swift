import Foundation

/// The question whether an attempt has a next one.
///
/// A value, because its answer calls the caller's closures, which may use the client: not under a lock.
struct RetryQuestion {
    private let request: CheckedRequest
    private let retries: URLClient.Retries
    private let attempt: Int
    private let head: ResponseHead?
    private let error: (any Error)?

    /// True if the next attempt goes on where this one broke off.
    private let isResumable: Bool

    init(
        request: CheckedRequest,
        retries: URLClient.Retries,
        attempt: Int,
        _ head: ResponseHead?,
        _ error: (any Error)?,
        isResumable: Bool
    ) {
        (self.request, self.retries, self.attempt, self.head, self.error) = (request, retries, attempt, head, error)
        self.isResumable = isResumable
    }

    /// Returns the pause before the next attempt; nil if there is none.
    func pause(now: Date) -> Duration? {
        retries.pause(
            after: attempt,
            status: head?.status,
            error: error,
            mayRepeat: isResumable
                || retries.mayRepeat(
                    method: HTTPMethod(rawValue: request.method),
                    isKeyed: request.value(of: "Idempotency-Key") != nil,
                    hasOneShotBody: request.hasOneShotBody,
                    after: error
                ),
            retryAfter: head.flatMap { RetryAfter.pause(asked: $0, now: now) }
        )
    }
}
