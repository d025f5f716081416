import AsyncHTTPClient
import Foundation
import NIOCore

/// A client of async-http-client, for comparison: without URLSession.
struct AsyncHTTPClientEngine: Engine {
    private let client: HTTPClient

    init(connections: Int) {
        var configuration = HTTPClient.Configuration()
        configuration.connectionPool.concurrentHTTP1ConnectionsPerHostSoftLimit = connections
        client = HTTPClient(eventLoopGroupProvider: .singleton, configuration: configuration)
    }

    func run(_ requests: Requests) async {
        await requests.run { url in
            let request = HTTPClientRequest(url: url.absoluteString)
            guard let response = try? await client.execute(request, timeout: .seconds(60)) else { return false }
            return (try? await response.body.collect(upTo: 1 << 20))?.readableBytes == 1_024
        }
    }

    func stream(_ url: URL) async throws -> Int? {
        let response = try await client.execute(HTTPClientRequest(url: url.absoluteString), timeout: .minutes(5))
        var count = 0
        for try await chunk in response.body { count += chunk.readableBytes }
        return count
    }

    func stop() async {
        try? await client.shutdown()
    }
}
