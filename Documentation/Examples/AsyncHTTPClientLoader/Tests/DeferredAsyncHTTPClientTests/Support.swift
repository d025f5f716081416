import AsyncHTTPClient
import Deferred
import DeferredAsyncHTTPClient
import DeferredTesting
import Foundation
import Testing

/// A client and a server for one test.
struct Fixture: ~Copyable {
    let client: HTTPClient
    let server: LoopbackServer

    init(
        configure: (inout HTTPClient.Configuration) -> Void = { _ in },
        beforeBody: (@Sendable (LoopbackServer.Request) -> LoopbackServer.Script?)? = nil,
        respond: @escaping @Sendable (LoopbackServer.Request) -> LoopbackServer.Script
    ) throws {
        var configuration = HTTPClient.Configuration()
        configuration.connectionPool.retryConnectionEstablishment = false
        configure(&configuration)
        server = try LoopbackServer(beforeBody: beforeBody, respond: respond)
        client = HTTPClient(eventLoopGroupProvider: .singleton, configuration: configuration)
    }

    var loader: AsyncHTTPClientLoader { AsyncHTTPClientLoader(client: client) }

    func request(_ method: HTTPMethod = .get, _ path: String = "/", body: HTTPBody = .empty) -> HTTPRequest {
        HTTPRequest(method, url: server.url(path), body: body)
    }

    deinit {
        server.stop()
        // Its result is nobody's.
        client.shutdown { _ in }
    }
}

/// A folder that goes after the test.
struct TemporaryFolder: ~Copyable {
    let url = FileManager.default.temporaryDirectory.appending(path: "loader-\(UUID())")

    init() throws {
        try FileManager.default.createDirectory(at: url, withIntermediateDirectories: true)
    }

    deinit {
        try? FileManager.default.removeItem(at: url)
    }

    var contents: [String] { (try? FileManager.default.contentsOfDirectory(atPath: url.path)) ?? [] }
}

extension LoopbackServer {
    /// Waits until nobody is connected.
    func waitUntilDeserted() async {
        while openConnectionCount > 0 { await Task.yield() }
    }
}

/// The code with which a request fails; `nil` if it doesn't.
func failure(of task: HTTPTask) async -> HTTPError.Code? {
    if case .failure(let error) = await task.result { error.code } else { nil }
}

/// What a task tells of its progress in the end.
func lastProgress(of task: Task<HTTPResponse>) async -> ProgressSnapshot? {
    var last: ProgressSnapshot?
    for await snapshot in task.progressUpdates { last = snapshot }
    return last
}
