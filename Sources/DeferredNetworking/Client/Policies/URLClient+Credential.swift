extension URLClient {
    /// What a client shows a server to say who it is. Its description doesn't tell the secret.
    public enum Credential: Sendable, Hashable {
        /// A name and a password: RFC 7617. The name has no colon.
        case basic(user: String, password: String)

        /// A token: RFC 6750.
        case bearer(token: String)

        /// The value for `Authorization`.
        func field() throws(URLClientError) -> String {
            switch self {
            case .basic(let user, let password): try BasicCredential.field(user: user, password: password)
            case .bearer(let token): "Bearer " + token
            }
        }
    }
}

extension URLClient.Credential: CustomStringConvertible, CustomDebugStringConvertible {
    /// The kind, and the name of a user.
    public var description: String {
        switch self {
        case .basic(let user, _): "basic(user: \(DisplayText.quoted(user)))"
        case .bearer: "bearer"
        }
    }

    /// The same as ``description``.
    public var debugDescription: String { description }
}
