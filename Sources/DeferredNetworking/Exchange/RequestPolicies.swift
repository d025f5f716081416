internal import DeferredTask

/// Decides about the attempts of a request: its credentials, the statuses that are accepted, and the next attempt.
///
/// An object, since nearly all requests of a client share one, and several parts of each keep it.
package final class RequestPolicies: Sendable {
    let retries: URLClient.Retries
    let authentication: URLClient.Authentication
    let validation: URLClient.StatusValidation

    /// True if a 206 that was not asked for is a response like any other, whose status the caller judges.
    let acceptsAnyPart: Bool

    init(
        retries: URLClient.Retries = .none,
        authentication: URLClient.Authentication = .none,
        validation: URLClient.StatusValidation = .any,
        acceptsAnyPart: Bool = false
    ) {
        self.retries = retries
        self.authentication = authentication
        self.validation = validation
        self.acceptsAnyPart = acceptsAnyPart
    }

    /// True if the caller's closures may be asked about challenges or retries.
    var hasClosures: Bool { authentication.answer != nil || retries.attempts > 1 && retries.policy.hasOwnClosures }

    /// One attempt, without a credential, that succeeds with any status.
    package static let none = RequestPolicies()

    /// Those of a chain, which gets every response that is well formed.
    package static let ofChain = RequestPolicies(acceptsAnyPart: true)
}
