internal import DeferredNetworking

/// Adds a name and a password to requests: RFC 7617.
///
/// ```swift
/// let chain = BasicAuthentication(user: "me", password: password) --> URLSessionLoader()
/// ```
///
/// Only requests to the hosts that they are for get them: to one of `hosts`, or without a host of their own, so that an
/// ``ApplyEnvironment`` completes them, before or behind this loader. See also ``HTTPRequest/isAuthenticated``.
/// Redirects to another origin don't carry them on.
public struct BasicAuthentication: HTTPLink {
    /// The next loader, set by `-->`.
    public var next: (any HTTPLoader)?
    private let field: Result<String, URLClientError>
    private let hosts: CredentialHosts

    /// Creates the loader.
    ///
    /// - Parameters:
    ///   - user: A name without a colon, which the server would take for the end of the name: with one, requests fail
    ///     with ``HTTPError/Code/invalidRequest``.
    ///   - password: Any text. Both are sent in UTF-8.
    ///   - hosts: The names of the hosts that they are for, besides requests without a host of their own.
    public init(user: String, password: String, hosts: Set<String> = []) {
        self.hosts = CredentialHosts(hosts)
        field = Result { () throws(URLClientError) in try BasicCredential.field(user: user, password: password) }
    }

    /// Passes the task on with the credential.
    public func load(_ task: HTTPTask) {
        guard hosts.wantCredential(task.request) else { return task.pass(to: next) }
        var request = task.request
        do {
            request.headers["Authorization"] = try field.get()
        } catch {
            task.complete(with: .failure(HTTPError(error, request: request)))
            return
        }
        task.send(request, to: next)
    }
}

extension BasicAuthentication: CustomReflectable {
    /// Not the password.
    public var customMirror: Mirror { Mirror(self, children: []) }
}
