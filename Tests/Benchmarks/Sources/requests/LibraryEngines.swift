import Deferred
import Foundation

#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

/// The library's client.
struct ClientEngine: Engine {
    private let client: URLClient

    init(connections: Int) {
        self.init(connections: connections, .automatic)
    }

    init(connections: Int, _ engine: URLClient.Configuration.Engine) {
        var configuration = URLClient.Configuration()
        configuration.engine = engine
        configuration.maximumConnectionsPerHost = connections
        client = URLClient(configuration: configuration)
    }

    func run(_ requests: Requests) async {
        await requests.run { url, end in
            client.begin(url).upon(.immediate) { result in end((try? result.get())?.0.count == 1_024) }
        }
    }

    func stream(_ url: URL) async throws -> Int? {
        let response = try await client.stream(URLRequest(url: url)).value
        var count = 0
        for try await chunk in response.body { count += chunk.count }
        return count
    }

    func stop() async {
        await client.shutdown().value
    }
}

/// The library's loaders, in a chain that is typical of a service.
struct ChainEngine: Engine {
    private let chain: any HTTPLoader

    init(connections: Int) {
        self.init(connections: connections, .automatic)
    }

    init(connections: Int, _ engine: URLClient.Configuration.Engine) {
        var configuration = URLClient.Configuration()
        configuration.engine = engine
        configuration.maximumConnectionsPerHost = connections
        chain = Self.chain(over: URLSessionLoader(configuration: configuration), connections: connections)
    }

    static func chain(over engine: some HTTPLoader, connections: Int) -> any HTTPLoader {
        ResetGuard() --> Autocancel() --> Retry() --> Throttle(maximum: connections) --> Validate() --> engine
    }

    func run(_ requests: Requests) async {
        await requests.load(with: chain)
    }
}

extension Requests {
    func load(with chain: any HTTPLoader) async {
        await run { url, end in
            chain.load(HTTPRequest(url: url)) { result in end((try? result.get())?.body.count == 1_024) }
        }
    }
}
