public import DeferredCore
public import DeferredTask

/// Adds a token to requests, and fetches a new one when the server refuses it: RFC 6750.
///
/// ```swift
/// let chain = BearerAuthentication { _ in signIn().map(\.accessToken) } --> URLSessionLoader()
/// ```
///
/// The token is added only to requests for one of `hosts` and to requests without a host, which an ``ApplyEnvironment``
/// completes, before or after this loader. Others are passed on unchanged, and a response of 401 to them is the result.
/// A loader that changes the host of a request belongs before this one: after it, the token would go along.
///
/// However many requests get a 401, one refresh serves them all: requests that arrive meanwhile wait for it, and then
/// each is loaded once more. If the server refuses the new token, too, its response is the result, so that there is no
/// endless loop. If the refresh fails, all waiting requests fail with ``HTTPError/Code/authenticationFailed`` and its
/// error as the cause, and the next request starts another refresh. A ``Retry`` before this loader tries again if the
/// cause is one that may pass, such as a lost connection.
///
/// A request that only a ``DeferredCache/Cache`` may answer, by its ``HTTPRequest/cachePolicy`` or its `Cache-Control`,
/// waits for no token and fetches none: it gets the newest that there was, even an expired one, since it selects the
/// user's own stored responses. After a reset, there is none, and only responses that are nobody's own match. If such a
/// request reaches a server all the same, since there is no cache, a 401 has the consequence that it always has.
///
/// A task that is cancelled while it waits completes with ``HTTPError/Code/cancelled``. The refresh goes on, for it may
/// have used up the credential that it was made with. Copies share the token. ``reset()`` forgets it, cancels a refresh,
/// and waits until that has ended, so that it stores nothing afterwards.
public struct BearerAuthentication: HTTPLink {
    private let tokens: TokenStore
    private let hosts: CredentialHosts

    /// Creates the loader.
    ///
    /// - Parameters:
    ///   - token: The initial token; `nil` to fetch one for the first request.
    ///   - hosts: The names of the hosts that get the token, in addition to requests without a host.
    ///   - refresh: Fetches a token; its argument is the token that was refused, or `nil` if there was none. It is
    ///     called on internal threads and must not block. A request that it loads with the same chain has to set
    ///     ``HTTPRequest/isAuthenticated`` to false, or it waits for itself. If a ``Throttle`` comes before this
    ///     loader, it also has to set ``HTTPRequest/isThrottled`` to false, or the requests that wait for the token may
    ///     leave it no place. Kept as long as the loader.
    public init(
        token: String? = nil,
        hosts: Set<String> = [],
        refresh: @escaping @Sendable (_ refused: String?) -> Task<String>
    ) {
        tokens = TokenStore(token) { refused in
            let task = refresh(refused)
            // A task made with `map` would end when it is cancelled, before the refresh does.
            return Task(task.future.map { $0.map { Credential(value: $0) } }, uponCancel: { task.cancel() })
        }
        self.hosts = CredentialHosts(hosts)
    }

    init(_ tokens: TokenStore, hosts: Set<String>) {
        self.tokens = tokens
        self.hosts = CredentialHosts(hosts)
    }

    /// Passes the task on with a token, as soon as there is one.
    public func load(_ task: HTTPTask, next: any HTTPLoader) {
        guard hosts.wantCredential(task.request) else { return task.pass(to: next) }
        if task.request.isForCacheOnly {
            tokens.getNewest(for: task) { begin(task, $0, next, isForCacheOnly: true) }
        } else if let token = tokens.valid {
            begin(task, token, next)
        } else {
            tokens.get(for: task) { begin(task, $0, next) }
        }
    }

    /// Forgets the token, and cancels a refresh under way.
    ///
    /// Without an ``Autocancel``, which cancels them, requests that wait for a token start another refresh then.
    ///
    /// - Returns: A future that is filled when the refresh has ended. A refresh that
    ///   ignores its cancellation is waited for five seconds, and one that itself resets the chain not at all.
    public func reset() -> Future<Void> {
        tokens.reset()
    }

    private func begin(_ task: HTTPTask, _ token: BearerToken?, _ next: any HTTPLoader, isForCacheOnly: Bool = false) {
        task.send(Self.request(of: task, token), to: next) { [tokens] result in
            guard let response = result.arrived, response.status == .unauthorized,
                !task.request.body.isOneShot, !isForCacheOnly || response.source == .network
            else {
                task.complete(with: result)
                return
            }
            response.stream?.cancel()
            tokens.get(for: task, refused: token) { fresh in
                // The next response is final: retrying a fresh token that is refused would not help.
                task.execution.later { task.send(Self.request(of: task, fresh), to: next) }
            }
        }
    }

    private static func request(of task: HTTPTask, _ token: BearerToken?) -> HTTPRequest {
        guard let token else { return task.request }
        var request = task.request
        request.headers["Authorization"] = token.field
        return request
    }
}

extension BearerAuthentication: ArrangedLink {}
