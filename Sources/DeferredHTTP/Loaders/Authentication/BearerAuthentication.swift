public import DeferredCore
public import DeferredTask

/// Adds a token to requests, and fetches a new one when the server refuses it: RFC 6750.
///
/// ```swift
/// let chain = BearerAuthentication { _ in signIn().map(\.accessToken) } --> URLSessionLoader()
/// ```
///
/// Only requests to the hosts that it is for get the token: to one of `hosts`, or without a host of their own, so that
/// an ``ApplyEnvironment`` completes them, before or behind this loader. Others are passed on as they are, and their
/// 401 is the result.
///
/// However many requests get a 401, one refresh serves them all: requests that come meanwhile wait for it, and then
/// each is loaded once more. If the server refuses that, too, its response is the result, so that there is no endless
/// loop. If the refresh fails, all that wait fail with ``HTTPError/Code/authenticationFailed`` and its error as the
/// cause, and the next request begins another refresh.
///
/// A task that is cancelled while it waits completes with ``HTTPError/Code/cancelled``. The refresh goes on, for it may
/// have used up the credential that it was made with. Copies share the token; ``reset()`` forgets it.
public struct BearerAuthentication: HTTPLink {
    /// The next loader, set by `-->`.
    public var next: (any HTTPLoader)?
    private let tokens: TokenStore
    private let hosts: CredentialHosts

    /// Creates the loader.
    ///
    /// - Parameters:
    ///   - token: The token to begin with; `nil` to fetch one for the first request.
    ///   - hosts: The names of the hosts that the token is for, besides requests without a host of their own.
    ///   - refresh: Fetches a token; it is given the one that was refused, `nil` if there was none. It is called on
    ///     internal threads and must not block. If it uses the same chain, its request has to set
    ///     ``HTTPRequest/isAuthenticated`` to false, or it waits for itself; and, where a ``Throttle`` comes before
    ///     this loader, ``HTTPRequest/isThrottled``, or those that wait for it may leave it no place. Kept as long as
    ///     the loader.
    public init(
        token: String? = nil,
        hosts: Set<String> = [],
        refresh: @escaping @Sendable (_ refused: String?) -> Task<String>
    ) {
        tokens = TokenStore(token, refresh: refresh)
        self.hosts = CredentialHosts(hosts)
    }

    /// Passes the task on with a token, as soon as there is one.
    public func load(_ task: HTTPTask) {
        guard hosts.wantCredential(task.request) else { return task.pass(to: next) }
        if let token = tokens.current { return begin(task, token) }
        tokens.get(for: task, refused: nil) { begin(task, $0) }
    }

    /// Forgets the token, and resets the other loaders.
    public func reset() -> Future<Void> {
        tokens.reset()
        return next?.reset() ?? Future(value: ())
    }

    private func begin(_ task: HTTPTask, _ token: BearerToken) {
        task.send(request(of: task, token), to: next) { result in
            guard case .success(let response) = result, response.status == .unauthorized,
                !task.request.body.isOneShot
            else {
                task.complete(with: result)
                return
            }
            response.stream?.cancel()
            tokens.get(for: task, refused: token) { fresh in
                // What comes now is the result: a fresh token that is refused will not get better.
                task.send(request(of: task, fresh), to: next)
            }
        }
    }

    private func request(of task: HTTPTask, _ token: BearerToken) -> HTTPRequest {
        var request = task.request
        request.headers["Authorization"] = token.field
        return request
    }
}
