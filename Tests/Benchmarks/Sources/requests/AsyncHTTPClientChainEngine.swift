import AsyncHTTPClient
import Deferred
import DeferredAsyncHTTPClient
import Foundation

/// The library's chain over async-http-client.
struct AsyncHTTPClientChainEngine: Engine {
    private let client: HTTPClient
    private let chain: any HTTPLoader

    init(connections: Int) {
        var configuration = HTTPClient.Configuration()
        configuration.connectionPool.concurrentHTTP1ConnectionsPerHostSoftLimit = connections
        client = HTTPClient(eventLoopGroupProvider: .singleton, configuration: configuration)
        chain = ChainEngine.chain(over: AsyncHTTPClientLoader(client: client), connections: connections)
    }

    func run(_ requests: Requests) async {
        await requests.load(with: chain)
    }

    func stop() async {
        try? await client.shutdown()
    }
}
