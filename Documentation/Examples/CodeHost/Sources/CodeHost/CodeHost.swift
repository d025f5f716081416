import Deferred
import Foundation

/// A client of a code-hosting service.
public struct CodeHost: Sendable {
    /// A repository.
    public struct Repository: Codable, Sendable, Hashable {
        /// Its number.
        public let id: Int
        /// Its name.
        public let name: String
    }

    /// The repositories to list.
    public struct Search: Encodable, Sendable {
        /// Whose they are.
        public var owner: String
        /// What they are about.
        public var topics: [String]

        /// Creates a search.
        public init(owner: String, topics: [String] = []) {
            (self.owner, self.topics) = (owner, topics)
        }
    }

    /// A push to a repository.
    public struct Push: Codable, Sendable, Hashable {
        /// The newest commit.
        public let commit: String
    }

    private let oauth: OAuth
    private let chain: HTTPChain

    /// Creates a client.
    ///
    /// - Parameters:
    ///   - server: The API of the service.
    ///   - client: This program, as it is registered with the service.
    ///   - storage: Keeps the tokens.
    ///   - network: Loads the requests.
    ///   - log: Writes a line for each request.
    public init(
        server: HTTPEnvironment,
        client: OAuth.Client,
        storage: any OAuth.Storage = OAuth.MemoryStorage(),
        network: any HTTPLoader = URLSessionLoader(),
        log: @escaping @Sendable (String) -> Void = { _ in }
    ) {
        oauth = OAuth(client, storage: storage, over: Retry() --> network)
        // The service answers 403 when there were too many requests, and says when the next may come.
        let quota = RetryStrategy.custom { attempt in
            guard attempt.number < 3, attempt.response?.status == .forbidden else { return nil }
            return attempt.response?.retryAfter
        }
        chain =
            ResetGuard() --> Autocancel() --> Log(log) --> Validate() --> Retry(.backoff().or(quota))
            --> oauth --> Throttle(maximum: 8) --> ApplyEnvironment(server) --> network
    }

    /// Signs in with another device.
    public func signIn(showing show: (OAuth.DeviceCode) async throws -> Void) async throws {
        try await oauth.signIn(showing: show)
    }

    /// Cancels all that is in flight, and removes the tokens.
    public func signOut() async {
        await chain.reset().value
    }

    /// Returns all repositories, from as many pages as there are.
    public func repositories(_ search: Search) async throws -> [Repository] {
        var request = HTTPRequest(path: "/repositories")
        try request.addQuery(search)
        var result: [Repository] = []
        for try await page in chain.pages(of: request) { result += try page.decode([Repository].self) }
        return result
    }

    /// Uploads a file, and returns its URL.
    public func upload(_ file: URL, to repository: Repository) -> Task<URL> {
        var request = HTTPRequest(.post, path: "/repositories")
        request.appendPathSegments("\(repository.id)", "files")
        request.body = .multipart([.init(name: "file", file: file)])
        // The same file twice is one file, so that an upload may be tried again.
        request.headers["Idempotency-Key"] = UUID().uuidString
        return chain.load(request).task.map { response in
            struct Uploaded: Decodable { let url: URL }
            return try response.decode(Uploaded.self).url
        }
    }

    /// The pushes to a repository, from now on.
    public func pushes(to repository: Repository) -> some AsyncSequence<Push, any Error> {
        var request = HTTPRequest(path: "/repositories/\(repository.id)/events")
        request.isThrottled = false
        return chain.events(of: request)
            .filter { $0.type == "push" }
            .map { try JSONDecoder().decode(Push.self, from: Data($0.data.utf8)) }
    }
}
