internal import DeferredNetworking

/// Adds a name and a password to requests: RFC 7617.
///
/// ```swift
/// let chain = BasicAuthentication(user: "me", password: password) --> URLSessionLoader()
/// ```
///
/// The credential is added only to requests for one of `hosts` and to requests without a host, which an
/// ``ApplyEnvironment`` completes, before or after this loader. See also ``HTTPRequest/isAuthenticated``. Redirects to
/// another origin don't carry it on.
public struct BasicAuthentication: HTTPLink, ArrangedLink {
    private let field: Result<String, URLClientError>
    private let origins: CredentialOrigins

    /// Creates the loader.
    ///
    /// - Parameters:
    ///   - user: A name without a colon, which the server would take for the end of the name: with a colon, requests
    ///     fail with ``HTTPError/Code/invalidRequest``.
    ///   - password: Any text. Both are sent in UTF-8.
    ///   - hosts: The hosts that get the credential, in addition to requests without a host: `"api.example.com"` for `https` and
    ///     its default port, `"api.example.com:8443"` for another port, `"http://localhost:8080"` without TLS. With a text
    ///     that is none of these, requests fail with ``HTTPError/Code/invalidRequest``.
    public init(user: String, password: String, hosts: Set<String> = []) {
        origins = CredentialOrigins(hosts)
        field = Result { () throws(URLClientError) in try BasicCredential.field(user: user, password: password) }
    }

    /// Passes the task on with the credential.
    public func load(_ task: HTTPTask, next: any HTTPLoader) {
        guard origins.claim(task, orPassTo: next) else { return }
        var request = task.request
        do {
            request.headers["Authorization"] = try field.get()
            task.send(request, to: next)
        } catch {
            task.complete(with: .failure(HTTPError(error, request: request)))
        }
    }
}

extension BasicAuthentication: CustomReflectable {
    /// No children, so that the password is not revealed.
    public var customMirror: Mirror { Mirror(self, children: []) }
}
