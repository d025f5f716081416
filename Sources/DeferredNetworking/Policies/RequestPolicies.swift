/// Decides about the attempts of a request: its credentials, the statuses that are accepted, and the next attempt.
package struct RequestPolicies: Sendable {
    var retries = URLClient.Retries.none
    var authentication = URLClient.Authentication.none
    var validation = URLClient.StatusValidation.any

    /// One attempt, without a credential, that succeeds with any status.
    package static let none = RequestPolicies()
}

extension RequestPolicies {
    /// Creates the policies of a client's request.
    init(_ configuration: URLClient.Configuration, _ options: URLClient.RequestOptions) {
        retries = options.retries ?? configuration.retries
        authentication = configuration.authentication
        validation = options.validation ?? configuration.validation
    }
}
