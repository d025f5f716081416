import Foundation

/// One way to make requests.
protocol Engine: Sendable {
    /// - Parameter connections: The maximum number of connections to a host.
    init(connections: Int)

    /// Makes all of `requests`, with `inFlight` of them at a time.
    func run(_ requests: Requests) async

    /// Reads a body piece by piece, and drops each piece; returns `nil` if the engine can't stream.
    func stream(_ url: URL) async throws -> Int?

    func stop() async
}

extension Engine {
    func stream(_ url: URL) async throws -> Int? { nil }

    func stop() async {}
}

enum EngineName: String, CaseIterable {
    case client = "URLClient"
    case sessionClient = "URLClient over URLSession"
    case chain = "HTTP chain"
    case sessionChain = "HTTP chain over URLSession"
    case handler = "dataTask(with:completionHandler:)"
    case delegate = "delegate session"
    case async = "data(for:)"
    case asyncHTTPClient = "async-http-client"
    case asyncHTTPClientChain = "HTTP chain over async-http-client"

    /// The ways to use a bare URLSession.
    static let bare: [EngineName] = [.handler, .delegate, .async]

    func make(connections: Int) -> any Engine {
        switch self {
        case .client: ClientEngine(connections: connections)
        case .sessionClient: ClientEngine(connections: connections, .urlSession)
        case .chain: ChainEngine(connections: connections)
        case .sessionChain: ChainEngine(connections: connections, .urlSession)
        case .handler: HandlerEngine(connections: connections)
        case .delegate: DelegateEngine(connections: connections)
        case .async: AsyncEngine(connections: connections)
        case .asyncHTTPClient: AsyncHTTPClientEngine(connections: connections)
        case .asyncHTTPClientChain: AsyncHTTPClientChainEngine(connections: connections)
        }
    }
}
