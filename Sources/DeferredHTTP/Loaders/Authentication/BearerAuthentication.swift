public import DeferredCore
public import DeferredNetworking
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
public struct BearerAuthentication: HTTPLink, ArrangedLink {
    private let tokens: TokenStores
    private let scope: @Sendable (HTTPRequest) -> String
    /// True if a request goes out without a token as long as there is none.
    private let awaitsChallenge: Bool
    private let origins: CredentialOrigins

    /// Creates the loader.
    ///
    /// - Parameters:
    ///   - token: The initial token; `nil` to fetch one for the first request.
    ///   - hosts: The hosts that get the token, in addition to requests without a host: `"api.example.com"` for `https` and
    ///     its default port, `"api.example.com:8443"` for another port, `"http://localhost:8080"` without TLS. With a text
    ///     that is none of these, requests fail with ``HTTPError/Code/invalidRequest``.
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
        self.init(TokenStore(token) { refusal in Self.bearer(refresh(refusal.token)) }, hosts: hosts)
    }

    /// Creates a loader that fetches a token when the server asks for one, with what it asks for.
    ///
    /// For servers that say in `WWW-Authenticate` where tokens are to be had, and for what, as container registries do:
    ///
    /// ```swift
    /// let chain = BearerAuthentication(hosts: ["registry.example"], scope: { repository(of: $0.path) }) { refusal in
    ///     guard let realm = refusal.challenges.first?["realm"] else { return .failure(NoRealm()) }
    ///     return Task { try await token(from: realm, for: refusal.challenges.first?["scope"]) }
    /// } --> URLSessionLoader()
    /// ```
    ///
    /// A request goes out without a token as long as there is none for its scope. Each scope has a token and a refresh of
    /// its own, and a place for them as long as the loader lives: there should be few. A request whose body can be sent only
    /// once fetches no token; one before it has to.
    ///
    /// - Parameters:
    ///   - hosts: The hosts that get the token, in addition to requests without a host, as above.
    ///   - scope: Returns a name for what a request needs a token for, such as the name of a repository. Called for each
    ///     request; must not block. Kept as long as the loader.
    ///   - answer: Fetches a token. Otherwise as `refresh` above.
    public init(
        hosts: Set<String> = [],
        scope: @escaping @Sendable (HTTPRequest) -> String,
        answering answer: @escaping @Sendable (Refusal) -> Task<String>
    ) {
        tokens = TokenStores { scope in
            TokenStore(nil) { refusal in
                // Only those ask for a token that have got a response.
                guard let response = refusal.response else { return .failure(CancellationError()) }
                return Self.bearer(answer(Refusal(response: response, token: refusal.token, scope: scope)))
            }
        }
        self.scope = scope
        awaitsChallenge = true
        origins = CredentialOrigins(hosts)
    }

    init(_ tokens: TokenStore, hosts: Set<String>) {
        self.tokens = TokenStores(["": tokens]) { _ in tokens }
        scope = { _ in "" }
        awaitsChallenge = false
        origins = CredentialOrigins(hosts)
    }

    /// A response that asks for a token.
    public struct Refusal: Sendable {
        /// The response, with status 401, the request that was sent, and the body. A stream is cancelled already.
        public let response: HTTPResponse

        /// The token that was refused; `nil` if none was sent.
        public let token: String?

        /// The scope of the request.
        public let scope: String

        /// The ways in which the server wants the request to be authenticated.
        public var challenges: [AuthenticationChallenge] { response.challenges }
    }

    private static func bearer(_ task: Task<String>) -> Task<BearerToken> {
        // A task made with `map` would end when it is cancelled, before the refresh does.
        Task(task.future.map { $0.map { BearerToken($0) } }, uponCancel: { task.cancel() })
    }

    /// Passes the task on with a token, as soon as there is one.
    public func load(_ task: HTTPTask, next: any HTTPLoader) {
        guard origins.claim(task, orPassTo: next) else { return }
        let tokens = tokens[scope(task.request)]
        if task.request.isForCacheOnly {
            tokens.getNewest(for: task) { begin(task, $0, of: tokens, next, isForCacheOnly: true) }
        } else if awaitsChallenge {
            begin(task, tokens.valid, of: tokens, next)
        } else {
            tokens.get(for: task) { begin(task, $0, of: tokens, next) }
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

    private func begin(
        _ task: HTTPTask,
        _ token: BearerToken?,
        of tokens: TokenStore,
        _ next: any HTTPLoader,
        isForCacheOnly: Bool = false
    ) {
        task.send(Self.request(of: task, token), to: next) { result in
            // What another server wants, after a redirect, is not for this token.
            guard let response = result.arrived, response.status == .unauthorized, origins.include(response),
                !task.request.body.isOneShot, !isForCacheOnly || response.source == .network
            else {
                task.complete(with: result)
                return
            }
            response.stream?.cancel()
            tokens.get(for: task, refused: token, by: response) { fresh in
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

/// The tokens of a loader, by their scopes.
private final class TokenStores: Sendable {
    private let stores: Lock<[String: TokenStore]>
    private let make: @Sendable (String) -> TokenStore

    init(_ stores: [String: TokenStore] = [:], _ make: @escaping @Sendable (String) -> TokenStore) {
        self.stores = Lock(stores)
        self.make = make
    }

    subscript(scope: String) -> TokenStore {
        stores.withLock { stores in
            if let store = stores[scope] { return store }
            let store = make(scope)
            stores[scope] = store
            return store
        }
    }

    func reset() -> Future<Void> {
        // They stay: a request in flight may still fetch a token into one of them, which the next reset has to find.
        stores.withLock { Array($0.values) }.map { $0.reset() }.allFilled().ignored()
    }
}
