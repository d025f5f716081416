internal import DeferredTask

/// Decides about the attempts of a request: its credentials, the statuses that are accepted, and the next attempt.
///
/// An object, since nearly all requests of a client share one, and several parts of each keep it.
final class RequestPolicies: Sendable {
    let retries: URLClient.Retries
    let authentication: URLClient.Authentication
    let validation: URLClient.StatusValidation

    init(
        retries: URLClient.Retries = .none,
        authentication: URLClient.Authentication = .none,
        validation: URLClient.StatusValidation = .any
    ) {
        (self.retries, self.authentication, self.validation) = (retries, authentication, validation)
    }

    /// True if the caller's closures may be asked about challenges or retries.
    var hasClosures: Bool { authentication.answer != nil || retries.attempts > 1 && retries.policy.hasOwnClosures }

    /// One attempt, without a credential, that succeeds with any status.
    static let none = RequestPolicies()
}
