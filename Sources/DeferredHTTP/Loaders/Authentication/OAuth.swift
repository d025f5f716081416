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
/// renewal, as in ``BearerAuthentication``, whose rules for hosts, refused tokens, retries and cancelling apply. Without
/// tokens, requests fail with ``HTTPError/Code/authenticationFailed`` and ``Failure/signedOut`` as the cause.
///
/// A reset signs out: it stops a renewal, and then removes the tokens from the storage. Copies share all of this.
public struct OAuth: HTTPLink {
    private let bearer: BearerAuthentication
    private let tokens: TokenStore
    let endpoint: OAuthEndpoint
    let storage: any Storage

    /// Creates the loader.
    ///
    /// - Parameters:
    ///   - client: The application, and the URLs of its server.
    ///   - storage: Keeps the tokens; by default, in memory.
    ///   - hosts: The names of the hosts that get the token, in addition to requests without a host.
    ///   - loader: Loads the requests to the OAuth server; not the chain that this loader is in. Kept as long as the loader.
    ///   - leeway: How long before its expiry a token is renewed.
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
        let seconds = TimeInterval(leeway.components.seconds)
        tokens = TokenStore(
            nil,
            isExpired: { $0.expiry.map { $0 <= now() + seconds } ?? false },
            stored: { Task { try await storage.tokens().map { Credential($0) } } }
        ) { refused in
            Task { try await Self.renewed(refused, endpoint, storage, until: now() + seconds) }
        }
        bearer = BearerAuthentication(tokens, hosts: hosts)
        self.endpoint = endpoint
        self.storage = storage
    }

    /// Passes the task on with a token, as soon as there is one.
    public func load(_ task: HTTPTask, next: any HTTPLoader) { bearer.load(task, next: next) }

    /// Stops a renewal, and removes the tokens from the storage.
    public func reset() -> Future<Void> {
        bearer.reset().flatMap { [storage] in Task { try await storage.store(nil) }.ignored() }
    }

    /// Stores the tokens of a sign-in, for the next request.
    func adopt(_ new: Tokens) async throws {
        try await storage.store(new)
        tokens.forget()
    }

    private static func renewed(
        _ refused: String?,
        _ endpoint: OAuthEndpoint,
        _ storage: any Storage,
        until time: Date
    ) async throws -> Credential {
        guard let stored = try await storage.tokens() else { throw Failure.signedOut }
        if stored.access != refused, stored.expiry.map({ $0 > time }) ?? true { return Credential(stored) }
        guard let refresh = stored.refresh else { throw Failure.signedOut }
        var new = try await endpoint.tokens(["grant_type": "refresh_token", "refresh_token": refresh])
        new.refresh = new.refresh ?? refresh
        // Somebody who has signed out meanwhile stays so.
        try _Concurrency.Task.checkCancellation()
        try await storage.store(new)
        return Credential(new)
    }
}

extension OAuth: ArrangedLink {}

extension Credential {
    fileprivate init(_ tokens: OAuth.Tokens) {
        // The usual spelling of the scheme, which servers are to compare without regard to case, but don't.
        let scheme = tokens.type.lowercased() == "bearer" ? "Bearer" : tokens.type
        self.init(value: tokens.access, scheme: scheme, expiry: tokens.expiry)
    }
}

extension OAuth {
    /// An application that is registered with an OAuth server.
    public struct Client: Sendable {
        let id: String
        let secret: String?
        let token: URL
        let device: URL?
        let authorization: URL?
        let scopes: [String]

        /// Creates a description of an application.
        ///
        /// - Parameters:
        ///   - id: The identifier of the application.
        ///   - secret: Its secret, if it has one. It is sent as RFC 6749, section 2.3.1 says, in `Authorization`.
        ///   - token: The URL of the token endpoint.
        ///   - device: The URL of the device authorization endpoint, for ``OAuth/signIn(showing:)``.
        ///   - authorization: The URL of the authorization endpoint, for ``OAuth/signIn(redirect:opening:)``.
        ///   - scopes: What the tokens are to allow; empty for the server's default.
        public init(
            id: String,
            secret: String? = nil,
            token: URL,
            device: URL? = nil,
            authorization: URL? = nil,
            scopes: [String] = []
        ) {
            (self.id, self.secret, self.token) = (id, secret, token)
            (self.device, self.authorization, self.scopes) = (device, authorization, scopes)
        }
    }

    /// The tokens of somebody who has signed in.
    public struct Tokens: Codable, Sendable, Hashable {
        /// The access token.
        public var access: String

        /// The refresh token, if there is one.
        public var refresh: String?

        /// The scheme of the access token, such as `Bearer`.
        public var type: String

        /// The time at which the access token expires; `nil` if the server doesn't say.
        public var expiry: Date?

        /// Creates tokens.
        public init(access: String, refresh: String? = nil, type: String = "Bearer", expiry: Date? = nil) {
            (self.access, self.refresh, self.type, self.expiry) = (access, refresh, type, expiry)
        }
    }

    /// Keeps tokens, for example in a keychain or a file.
    public protocol Storage: Sendable {
        /// Returns the tokens; `nil` if nobody has signed in.
        func tokens() async throws -> Tokens?

        /// Replaces the tokens; `nil` removes them.
        func store(_ tokens: Tokens?) async throws
    }

    /// Keeps tokens in memory.
    public actor MemoryStorage: Storage {
        private var stored: Tokens?

        /// Creates a storage.
        public init(_ tokens: Tokens? = nil) {
            stored = tokens
        }

        /// Returns the tokens.
        public func tokens() -> Tokens? { stored }

        /// Replaces the tokens.
        public func store(_ tokens: Tokens?) { stored = tokens }
    }

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

        /// One line for a log.
        public var description: String {
            switch self {
            case .signedOut: "nobody is signed in"
            case .unsupported: "the client has no URL for this way to sign in"
            case .refused(let code, let text): "the server answered \(code)" + (text.map { ": \($0)" } ?? "")
            case .wrongState: "the state of the redirect is not that of this sign-in"
            }
        }
    }
}

extension OAuth.Tokens: CustomStringConvertible, CustomReflectable {
    /// The scheme and the expiry, but no token.
    public var description: String { type + " token" + (expiry.map { ", expires \($0)" } ?? "") }

    /// No children, so that no token is revealed.
    public var customMirror: Mirror { Mirror(self, children: []) }
}
