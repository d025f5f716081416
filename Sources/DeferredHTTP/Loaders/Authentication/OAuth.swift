public import DeferredCore
internal import DeferredTask
public import Foundation

/// Adds the access token of an OAuth 2.0 server to requests, and renews it before it expires: RFC 6749.
///
/// ```swift
/// let oauth = OAuth(.init(id: "app", token: tokenURL, device: deviceURL), storage: keychain, over: URLSessionLoader())
/// try await oauth.signIn { code in print("Enter \(code.userCode) at \(code.url)") }
/// let chain = ResetGuard() --> Autocancel() --> oauth --> ApplyEnvironment(environment) --> URLSessionLoader()
/// await chain.reset().value  // signs out
/// ```
///
/// Tokens come from the storage, and new ones go there before they are used. Whatever requests wait for one, there is one
/// renewal, as in ``BearerAuthentication``, whose rules for hosts, refused tokens, retries and cancelling apply. Processes
/// that share a storage, such as a ``FileStorage``, renew one after the other, and each looks first whether another one
/// has done it: a server that rotates refresh tokens takes a second use of one for a theft, and revokes all.
///
/// Without tokens, requests fail with ``HTTPError/Code/authenticationFailed`` and ``Failure/signedOut`` as the cause. When
/// the server answers a renewal with `invalid_grant`, the tokens are removed, all requests that wait fail with that, and
/// nobody asks with them again. ``Failure/needsSignIn`` is true for both.
///
/// If the connection is lost after the server has rotated the refresh token, and before its answer is here, the new token
/// is lost, too. Requests fail with the lost connection as the cause; the next renewal sends the old token, and fails with
/// `invalid_grant`, unless the server allows for that. Nothing but another sign-in helps then.
///
/// A reset signs out: it stops a renewal, and then removes the tokens from the storage; another process that has exclusive
/// access to that is waited for, at most five seconds. Copies share all of this.
public struct OAuth: HTTPLink, ArrangedLink {
    private let bearer: BearerAuthentication
    private let tokens: TokenStore
    private let unsaved: UnsavedTokens
    let endpoint: OAuthEndpoint
    let storage: any Storage

    /// Creates the loader.
    ///
    /// - Parameters:
    ///   - client: The application, and the URLs of its server.
    ///   - storage: Keeps the tokens; by default, in memory.
    ///   - hosts: The hosts that get the token, in addition to requests without a host, as for ``BearerAuthentication``.
    ///   - loader: Loads the requests to the OAuth server; not the chain that this loader is in. Kept as long as the loader.
    ///   - leeway: How long before its expiry a token is renewed; at most a fifth of its lifetime.
    ///   - clock: The clock by which pauses are measured while somebody signs in; a manual one in tests.
    ///   - now: Returns the time by which tokens expire.
    public init(
        _ client: Client,
        storage: any Storage = MemoryStorage(),
        hosts: Set<String> = [],
        over loader: any HTTPLoader,
        leeway: Duration = .seconds(30),
        clock: any Clock<Duration> = ContinuousClock(),
        now: @escaping @Sendable () -> Date = { Date() }
    ) {
        let endpoint = OAuthEndpoint(client: client, loader: loader, clock: clock, now: now)
        let unsaved = UnsavedTokens()
        tokens = TokenStore(
            nil,
            isExpired: { $0.expiry.map { $0 <= now() } ?? false },
            stored: { Task { try await storage.tokens().map { BearerToken($0, leeway) } } }
        ) { refusal in
            Task {
                try await storage.withExclusiveAccess {
                    try await BearerToken(Self.renewed(refusal.token, endpoint, storage, unsaved, leeway), leeway)
                }
            }
        }
        bearer = BearerAuthentication(tokens, hosts: hosts)
        self.unsaved = unsaved
        self.endpoint = endpoint
        self.storage = storage
    }

    /// Passes the task on with a token, as soon as there is one.
    public func load(_ task: HTTPTask, next: any HTTPLoader) { bearer.load(task, next: next) }

    /// Stops a renewal, and removes the tokens from the storage.
    public func reset() -> Future<Void> {
        // A renewal that resets the chain has the access to the storage itself.
        let isRenewal = TokenRefresh.current != nil
        return bearer.reset().flatMap { [storage, unsaved, clock = endpoint.clock] () -> Future<Void> in
            unsaved.forget()
            let removal = Task {
                if isRenewal { return try await storage.store(nil) }
                try await storage.withExclusiveAccess { try await storage.store(nil) }
            }
            return removal.timeout(after: TokenStore.grace, clock: clock)
                .recover { _ in try await storage.store(nil) }.future.ignored()
        }
    }

    /// Stores the tokens of a sign-in, for the next request.
    func adopt(_ new: Tokens) async throws {
        try await storage.withExclusiveAccess { [storage, unsaved] in
            try await storage.store(new)
            unsaved.forget()
        }
        tokens.forget()
    }

    /// Returns tokens that are worth sending. Called with exclusive access to the storage.
    private static func renewed(
        _ refused: String?,
        _ endpoint: OAuthEndpoint,
        _ storage: any Storage,
        _ unsaved: UnsavedTokens,
        _ leeway: Duration
    ) async throws -> Tokens {
        var stored = try await storage.tokens()
        if let new = unsaved.tokens(after: stored) {
            try await storage.store(new)
            unsaved.forget()
            stored = new
        }
        // Another process may have renewed them before this one had access.
        if let stored, stored.access != refused, stored.renewal(leeway).map({ $0 > endpoint.now() }) ?? true {
            return stored
        }
        var new: Tokens
        if endpoint.client.grant == .clientCredentials {
            new = try await endpoint.tokens(
                ["grant_type": "client_credentials"].merging(endpoint.scope) { one, _ in one }
            )
        } else {
            guard let stored, let refresh = stored.refresh else { throw Failure.signedOut }
            do {
                new = try await endpoint.tokens(["grant_type": "refresh_token", "refresh_token": refresh])
            } catch let failure as Failure where failure.needsSignIn {
                // With a storage that gives no exclusive access, somebody may have signed in meanwhile.
                if try await storage.tokens() == stored { try await storage.store(nil) }
                throw failure
            }
            new.refresh = new.refresh ?? refresh
        }
        // If the storage fails from here on, the server has rotated all the same: it refuses the old refresh token.
        unsaved.keep(new, after: stored)
        // Somebody who has signed out meanwhile stays so, and another one who has signed in, too.
        try _Concurrency.Task.checkCancellation()
        let current = try await storage.tokens()
        guard current == stored else {
            unsaved.forget()
            if let current { return current } else { throw Failure.signedOut }
        }
        try await storage.store(new)
        unsaved.forget()
        return new
    }
}

/// The tokens of a renewal until the storage has them, for the next renewal.
private final class UnsavedTokens: Sendable {
    private let renewal = Lock<(old: OAuth.Tokens?, new: OAuth.Tokens)?>(nil)

    func keep(_ new: OAuth.Tokens, after old: OAuth.Tokens?) { renewal.withLock { $0 = (old: old, new: new) } }

    func forget() { renewal.withLock { $0 = nil } }

    /// Returns the tokens that were to replace those that are stored.
    func tokens(after stored: OAuth.Tokens?) -> OAuth.Tokens? {
        renewal.withLock { renewal in renewal.flatMap { $0.old == stored ? $0.new : nil } }
    }
}

extension BearerToken {
    fileprivate convenience init(_ tokens: OAuth.Tokens, _ leeway: Duration) {
        // The usual spelling of the scheme, which servers are to compare without regard to case, but don't.
        let scheme = tokens.type.lowercased() == "bearer" ? "Bearer" : tokens.type
        self.init(tokens.access, scheme: scheme, expiry: tokens.renewal(leeway))
    }
}

extension OAuth {
    /// The reason that no token is available.
    public enum Failure: DisplayableError, Hashable {
        /// Nobody has signed in, or the tokens can't be renewed.
        case signedOut

        /// The client has no URL for this way to sign in.
        case unsupported

        /// The server has refused: RFC 6749, section 5.2. `invalid_grant`, for example, asks for another sign-in.
        case refused(code: String, description: String?)

        /// The browser came back with the answer to another sign-in.
        case wrongState

        /// A Boolean value that indicates whether only another sign-in helps: nobody has signed in, or the server has
        /// revoked the tokens, which are removed then.
        public var needsSignIn: Bool {
            switch self {
            case .signedOut: true
            case .refused(let code, _): code == "invalid_grant"
            case .unsupported, .wrongState: false
            }
        }

        /// One line for a log.
        public var description: String {
            switch self {
            case .signedOut: "nobody is signed in; sign in"
            case .unsupported: "the client has no URL for this way to sign in"
            case .refused(let code, let text):
                "the server answered \(code)" + (text.map { ": \($0)" } ?? "") + (needsSignIn ? "; sign in again" : "")
            case .wrongState: "the state of the redirect is not that of this sign-in"
            }
        }
    }
}
