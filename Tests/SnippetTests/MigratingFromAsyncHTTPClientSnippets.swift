// swift-format-ignore-file
// Written by Documentation/snippets.py from Documentation/Deferred.docc/Articles/MigratingFromAsyncHTTPClient.md.

import Deferred
import DeferredTesting
import Foundation
import TestSupport
import Testing

#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

@Suite(.ownThread, .timeLimit(.minutes(1)))
struct MigratingFromAsyncHTTPClientSnippets {
    func `Name by name`() async throws {
#sourceLocation(file: "Documentation/Deferred.docc/Articles/MigratingFromAsyncHTTPClient.md", line: 68)
        let (url, file) = (URL(filePath: "/a"), URL(filePath: "/b"))
        var configuration = URLClient.Configuration()
        configuration.authentication = .basic(user: "ada", password: "secret")
        configuration.deadlines.connectToHead = .seconds(1)
        configuration.deadlines.idle = .seconds(10)
        configuration.redirects = .follow(atMost: 5)
        configuration.redirects = .none
        configuration.maximumConnectionsPerHost = 8
        configuration.tls.minimumVersion = .v1_3
        configuration.proxy = .server(url)
        configuration.connectionIdleTimeout = .seconds(30)
        configuration.resolve = ["example.com:443": ["192.0.2.1"]]
        configuration.unixSocketPath = "/run/service.sock"
        configuration.httpVersion = .http1_1
        configuration.monitor = { print($0) }
        let client = URLClient(configuration: configuration)
        var request = URLRequest(url: url)
        request.httpBody = Data()
        let task = client.begin(url)
        _ = client.stream(url)
        _ = client.upload(request, from: .data(Data()))
        _ = client.upload(request, from: .stream(AsyncStream<Data> { $0.finish() }, length: 0))
        _ = client.download(url, to: file)
        _ = (HTTPRequest(url: url), Log(), URLClientError.self, URLError.self)
        _ = task.mapError { error in error.isCancellation ? CancellationError() : error }
        task.cancel()
        await client.shutdown().value
        await client.invalidateAndCancel().value
#sourceLocation()
    }

    @Test func `Before and after`() async throws {
#sourceLocation(file: "Documentation/Deferred.docc/Articles/MigratingFromAsyncHTTPClient.md", line: 115)
        struct User: Decodable, Sendable { let name: String }
        let server = try LoopbackServer { _ in .json(#"{"name": "Ada"}"#) }
        defer { server.stop() }
        let url = server.url("/user")
#sourceLocation()
#sourceLocation(file: "Documentation/Deferred.docc/Articles/MigratingFromAsyncHTTPClient.md", line: 121)






        var configuration = URLClient.Configuration()
        configuration.deadlines.total = .seconds(5)
        configuration.maximumBodySize = 1 << 20
        let client = URLClient(configuration: configuration)

        var request = URLRequest(url: url)
        request.setValue("application/json", forHTTPHeaderField: "Accept")
        let user = try await client.decode(User.self, from: request).get()
        await client.shutdown().value
#sourceLocation()
#sourceLocation(file: "Documentation/Deferred.docc/Articles/MigratingFromAsyncHTTPClient.md", line: 138)
        #expect(user.name == "Ada")
#sourceLocation()
    }
}
