internal import DeferredNetworking

/// Adds a name and a password to requests: RFC 7617.
///
/// ```swift
/// let chain = BasicAuthentication(user: "me", password: password) --> URLSessionLoader()
/// ```
///
/// Every request that comes by gets them, whatever its host; see ``HTTPRequest/isAuthenticated``. Redirects to another
/// origin don't carry them on.
public struct BasicAuthentication: HTTPLink {
    /// The next loader, set by `-->`.
    public var next: (any HTTPLoader)?
    private let field: Result<String, URLClientError>

    /// Creates the loader.
    ///
    /// - Parameters:
    ///   - user: A name without a colon, which the server would take for the end of the name: with one, requests fail with
    ///     ``HTTPError/Code/invalidRequest``.
    ///   - password: Any text. Both are sent in UTF-8.
    public init(user: String, password: String) {
        field = Result { () throws(URLClientError) in try BasicCredential.field(user: user, password: password) }
    }

    /// Passes the task on with the credential.
    public func load(_ task: HTTPTask) {
        guard task.request.wantsCredential else { return task.pass(to: next) }
        var request = task.request
        do {
            request.headers["Authorization"] = try field.get()
        } catch {
            task.complete(with: .failure(HTTPError(error, request: request)))
            return
        }
        task.pass(request, to: next)
    }
}

extension BasicAuthentication: CustomReflectable {
    /// Not the password.
    public var customMirror: Mirror { Mirror(self, children: []) }
}
