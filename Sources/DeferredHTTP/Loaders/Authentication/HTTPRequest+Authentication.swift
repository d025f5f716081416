extension HTTPRequest {
    /// A Boolean value that indicates whether ``BasicAuthentication`` and ``BearerAuthentication`` add a credential.
    ///
    /// They never add one to a request that has an `Authorization` field. Set this to false for the request that
    /// fetches the token, if it uses the same chain.
    public var isAuthenticated: Bool {
        get { self[AuthenticatedOption.self] }
        set { self[AuthenticatedOption.self] = newValue }
    }
}

/// The hosts that get a credential.
struct CredentialHosts: Sendable {
    private let names: Set<String>

    init(_ names: Set<String>) {
        self.names = Set(names.map(Self.normalized))
    }

    /// Returns true if a credential is to be added to a request.
    func wantCredential(_ request: HTTPRequest) -> Bool {
        guard request.isAuthenticated, request.headers["Authorization"] == nil else { return false }
        // A request without a host goes to the program's server, or to that of an environment that the program chose.
        guard let host = request.host, !request.parts.isHostOfEnvironment else { return true }
        return !names.isEmpty && names.contains(Self.normalized(host))
    }

    /// Returns a host in lower case, and an IPv6 address without its brackets.
    private static func normalized(_ host: String) -> String {
        let host = host.lowercased()
        return host.hasPrefix("[") && host.hasSuffix("]") ? String(host.dropFirst().dropLast()) : host
    }
}

private enum AuthenticatedOption: HTTPRequestOption {
    static let defaultValue = true
}
