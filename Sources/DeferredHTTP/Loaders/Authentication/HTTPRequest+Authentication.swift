internal import DeferredNetworking

extension HTTPRequest {
    /// A Boolean value that indicates whether ``BasicAuthentication``, ``DigestAuthentication``, ``BearerAuthentication``
    /// and ``OAuth`` add a credential.
    ///
    /// They never add one to a request that has an `Authorization` field. Set this to false for the request that
    /// fetches the token, if it uses the same chain.
    public var isAuthenticated: Bool {
        get { self[AuthenticatedOption.self] }
        set { self[AuthenticatedOption.self] = newValue }
    }

    /// A Boolean value that indicates whether the request is for the program's own server: it has no host, or
    /// ``ApplyEnvironment`` has given it one.
    ///
    /// A loader that signs requests asks this, so that nothing is signed for a server that a response has named. The
    /// answer is no once the request's scheme, host or port is changed, and for a redirect to another origin.
    public var isForEnvironment: Bool {
        // With a scheme of its own, it may be sent without TLS.
        host == nil && scheme.map { $0.lowercased() == "https" } ?? true || parts.isHostOfEnvironment
    }
}

/// The origins that get a credential, in addition to that of the environment.
struct CredentialOrigins: Sendable {
    private let origins: Result<Set<Origin>, URLClientError>

    /// - Parameter hosts: Names and addresses, each with a scheme and a port if they aren't `https` and its default.
    init(_ hosts: Set<String>) {
        origins = Result { () throws(URLClientError) in
            var origins: Set<Origin> = []
            for host in hosts { origins.insert(try Origin(text: host)) }
            return origins
        }
    }

    /// Returns true if the request of a task is to get a credential. Otherwise, passes the task on, or fails it if one of
    /// the hosts is none.
    func claim(_ task: HTTPTask, orPassTo next: any HTTPLoader) -> Bool {
        let request = task.request
        do {
            let origins = try origins.get()
            if request.isAuthenticated, request.headers["Authorization"] == nil, Self.contains(origins, request) {
                return true
            }
            task.pass(to: next)
        } catch {
            task.complete(with: .failure(HTTPError(error, request: request)))
        }
        return false
    }

    /// Returns true for a response from an origin that gets the credential, also after redirects.
    func include(_ response: HTTPResponse) -> Bool {
        let sent = response.request
        // The client's redirects leave the request as it is.
        if let url = response.url, let asked = sent.url, Origin(of: url) != Origin(of: asked) { return false }
        return (try? origins.get()).map { Self.contains($0, sent) } ?? false
    }

    /// A request without a host goes to the program's server, or to that of an environment that the program chose.
    private static func contains(_ origins: Set<Origin>, _ request: HTTPRequest) -> Bool {
        request.isForEnvironment || request.parts.origin.map(origins.contains) ?? false
    }
}

private enum AuthenticatedOption: HTTPRequestOption {
    static let defaultValue = true
}
