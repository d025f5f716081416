extension HTTPRequest {
    /// Whether ``BasicAuthentication`` and ``BearerAuthentication`` add a credential. They never do where there is an
    /// `Authorization` already.
    ///
    /// Set it to false for the request that fetches the token, if that uses the same chain.
    public var isAuthenticated: Bool {
        get { self[AuthenticatedOption.self] }
        set { self[AuthenticatedOption.self] = newValue }
    }
}

/// The hosts that a credential is for.
struct CredentialHosts: Sendable {
    private let names: Set<String>

    init(_ names: Set<String>) {
        self.names = Set(names.map { $0.lowercased() })
    }

    /// Whether a credential is to be added to a request.
    func wantCredential(_ request: HTTPRequest) -> Bool {
        guard request.isAuthenticated, request.headers["Authorization"] == nil else { return false }
        // Without a host of its own, it goes to the program's server, or to that of an environment that the program
        // chose.
        guard let host = request.host, !request.parts.isHostOfEnvironment else { return true }
        return !names.isEmpty && names.contains(host.lowercased())
    }
}

private enum AuthenticatedOption: HTTPRequestOption {
    static let defaultValue = true
}
