extension HTTPRequest {
    /// Whether ``BasicAuthentication`` and ``BearerAuthentication`` add a credential. They never do where there is an
    /// `Authorization` already.
    ///
    /// Set it to false for the request that fetches the token, if that uses the same chain, and for other servers.
    public var isAuthenticated: Bool {
        get { self[AuthenticatedOption.self] }
        set { self[AuthenticatedOption.self] = newValue }
    }

    /// Whether a credential is to be added.
    var wantsCredential: Bool { isAuthenticated && headers["Authorization"] == nil }
}

private enum AuthenticatedOption: HTTPRequestOption {
    static let defaultValue = true
}
