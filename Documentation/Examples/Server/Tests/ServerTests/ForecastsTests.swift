import Deferred
import DeferredTesting
import Foundation
import Hummingbird
import Logging
import ServiceLifecycle
import Testing

@testable import Server

#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

@Suite(.timeLimit(.minutes(1)))
struct ForecastsTests {
    /// Tells when a request has come to the server's upstream, and how it has ended.
    private struct Tap: HTTPLink {
        let arrived = Deferred<Void>()
        let end = Deferred<HTTPResult>()

        func load(_ task: HTTPTask, next: any HTTPLoader) {
            task.addCompletionHandler { end.fill(with: $0) }
            task.pass(to: next)
            arrived.fill()
        }

        var isCancelled: Bool {
            get async {
                if case .failure(let error) = await end.value { error.code == .cancelled } else { false }
            }
        }
    }

    private let tap = Tap()

    /// A client to which any answer is one.
    private let client: URLClient = {
        var configuration = URLClient.Configuration()
        (configuration.validation, configuration.retries) = (.any, .none)
        return URLClient(configuration: configuration)
    }()

    /// Runs a server until the end of `body`.
    private func serve(from upstream: StubLoader, _ body: (URLRequest, ServiceGroup) async throws -> Void) async throws
    {
        let port = Deferred<Int>()
        let logger = Logger(label: "test") { _ in SwiftLogNoOpLogHandler() }
        let server = Application(
            router: Forecasts(upstream: tap --> upstream).router,
            configuration: .init(address: .hostname("127.0.0.1", port: 0)),
            onServerRunning: { port.fill(with: $0.localAddress?.port ?? 0) },
            logger: logger
        )
        let group = ServiceGroup(services: [server], logger: logger)
        let end = Task { try await group.run() }
        let url = try #require(URL(string: "http://127.0.0.1:\(await port.value)/forecasts/San%20Jos%C3%A9"))
        try await body(URLRequest(url: url), group)
        await group.triggerGracefulShutdown()
        try await end.get()
    }

    @Test func `the answer of the upstream is the server's`() async throws {
        let stub = StubLoader(.json(#"{"sun": 0.5}"#, status: 203))
        try await serve(from: stub) { request, _ in
            let (body, response) = try await client.begin(request).get()
            #expect(String(decoding: body, as: UTF8.self) == #"{"sun": 0.5}"# && response.status == 203)
            #expect(response.headers["Content-Type"] == "application/json")
        }
        #expect(stub.requests.map(\.path) == ["/v1/San José"])
    }

    @Test func `a failure of the upstream is a bad gateway`() async throws {
        try await serve(from: StubLoader(.failure(.cannotConnect))) { request, _ in
            let status = try await client.begin(request).get().1.status
            #expect(status == 502)
        }
    }

    @Test func `a client that goes away cancels the request to the upstream`() async throws {
        try await serve(from: StubLoader(.pending)) { request, _ in
            let task = client.begin(request)
            await tap.arrived.value
            task.cancel()
            #expect(await tap.isCancelled)
        }
    }

    @Test func `a graceful shutdown cancels the request to the upstream`() async throws {
        try await serve(from: StubLoader(.pending)) { request, group in
            let task = client.begin(request)
            await tap.arrived.value
            await group.triggerGracefulShutdown()
            #expect(await tap.isCancelled)
            let status = try await task.get().1.status
            #expect(status == 503)
        }
    }
}
