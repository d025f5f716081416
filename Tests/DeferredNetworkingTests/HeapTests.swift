import DeferredCore
import DeferredTask
import DeferredTesting
import Foundation
import TestSupport
import Testing

@testable import DeferredNetworking

#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

#if os(Linux)
/// Tests that nothing is kept of a request once it is over, in clients that go on. A new door is one more line.
@Suite("Heap of clients", .ownThread, .timeLimit(.minutes(5)), .enabled(if: !isSanitized))
struct HeapTests {
    private typealias Use = @Sendable (URLClient, LoopbackServer) async -> Void

    private static let uses: [(name: String, use: Use)] = [
        ("data", { _ = await $0.begin($1.url("/ok")).result }),
        ("data that is cancelled", { client, server in await client.begin(server.url("/silent")).cancelled() }),
        (
            "data that is cancelled after its head",
            { client, server in
                let task = client.begin(server.url("/slow"))
                for await progress in task.progressUpdates where progress.completed > 0 { break }
                await task.cancelled()
            }
        ),
        ("data that is refused", { client, _ in _ = await client.begin(nowhere).result }),
        ("data that is redirected", { _ = await $0.begin($1.url("/redirect")).result }),
        ("data that is unacceptable", { _ = await $0.begin($1.url("/unacceptable")).result }),
        ("data that is challenged", { _ = await $0.begin($1.url("/challenge")).result }),
        ("data that is cut", { _ = await $0.begin($1.url("/cut")).result }),
        ("data that is retried", { _ = await $0.begin($1.url("/busy")).result }),
        (
            "data that is late",
            { client, server in
                var options = URLClient.RequestOptions()
                options.total = .milliseconds(1)
                _ = await client.begin(server.url("/silent"), options: options).result
            }
        ),
        (
            "data whose monitor is its own",
            { client, server in
                var options = URLClient.RequestOptions()
                options.monitor = { _ in }
                _ = await client.begin(server.url("/ok"), options: options).result
            }
        ),
        ("an upload of data", { _ = await $0.upload($1.url("/ok"), from: .data(Data(count: 100))).result }),
        (
            "an upload of a stream",
            { client, server in
                _ = await client.upload(server.url("/ok"), from: .stream { InputStream(data: Data(count: 100)) }).result
            }
        ),
        (
            "an upload of a file",
            { client, server in _ = await client.upload(server.url("/ok"), from: .file(source)).result }
        ),
        ("decoding", { _ = await $0.decode([Int].self, from: $1.url("/json")).result }),
        ("decoding that fails", { _ = await $0.decode([Int].self, from: $1.url("/ok")).result }),
        (
            "decoding that is cancelled",
            { client, server in
                let task = client.decode([Int].self, from: server.url("/silent"))
                task.cancel()
                _ = await task.result
            }
        ),
        ("a download", { _ = await $0.download($1.url("/ok"), to: file()).result }),
        ("a download that is cut", { _ = await $0.download($1.url("/cut"), to: file()).result }),
        (
            "a stream that is read",
            { client, server in
                guard let stream = try? await client.stream(server.url("/ok")).get() else { return }
                do { for try await _ in stream.body {} } catch {}
            }
        ),
        (
            "a stream that is cancelled",
            { client, server in
                (try? await client.stream(server.url("/slow")).get())?.body.cancel()
            }
        ),
        ("a stream that is dropped", { _ = await $0.stream($1.url("/slow")).result }),
    ]

    /// What a session does that goes on.
    private static let sessionUses: [(name: String, use: @Sendable (URLSession, LoopbackServer) async -> Void)] = [
        ("data", { _ = await $0.beginDataTask(with: $1.url("/ok")).result }),
        ("data that is refused", { session, _ in _ = await session.beginDataTask(with: nowhere).result }),
        ("data that is redirected", { _ = await $0.beginDataTask(with: $1.url("/redirect")).result }),
        ("data that is cut", { _ = await $0.beginDataTask(with: $1.url("/cut")).result }),
        (
            "an upload of data",
            { _ = await $0.beginUploadTask(with: .put($1.url("/ok")), from: Data(count: 100)).result }
        ),
        (
            "an upload of a file",
            { _ = await $0.beginUploadTask(with: .put($1.url("/ok")), fromFile: source).result }
        ),
        ("a download", { _ = await $0.beginDownloadTask(with: $1.url("/ok"), to: file()).result }),
    ]

    private static let nowhere = URL(string: "http://127.0.0.1:1/") ?? URL(filePath: "/")
    private static let folder = try? TemporaryDirectory()

    private static func file() -> URL {
        (folder?.url ?? FileManager.default.temporaryDirectory).appending(path: UUID().uuidString)
    }

    /// A file to send.
    private static let source: URL = {
        let file = HeapTests.file()
        try? Data(count: 100).write(to: file)
        return file
    }()

    /// A server that does what the path says, and keeps no list of requests.
    private static func server() throws -> LoopbackServer {
        try LoopbackServer(requestLogLimit: 0) { request in
            switch request.path {
            case "/silent": [.stall]
            case "/slow": [.send("HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\nhello"), .stall]
            case "/redirect": .redirect(to: "/ok")
            case "/unacceptable": .response(404)
            case "/challenge": .response(401, headers: ["WWW-Authenticate": "Basic realm=\"r\""])
            case "/cut": [.send("HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\nhello"), .close]
            case "/busy": .response(503)
            case "/json": .response(body: "[1]")
            default: .response(body: "hello")
            }
        }
    }

    private static func client(_ engine: URLClient.Configuration.Engine) -> URLClient {
        .fresh {
            $0.engine = engine
            $0.retries = URLClient.Retries()
            $0.retries.attempts = 2
            $0.retries.clock = ImmediateClock()
            $0.authentication = .basic(user: "u", password: "p")
        }
    }

    @Test(arguments: uses.map(\.name), [true, false])
    func `nothing is left`(of name: String, overLibcurl: Bool) async {
        await #expect(processExitsWith: .success, "\(name)") { [name, overLibcurl] in
            let (server, client) = (try Self.server(), Self.client(overLibcurl ? .libcurl : .urlSession))
            defer { server.stop() }
            let use = try #require(Self.uses.first { $0.name == name }).use
            let operation = MeteredOperation(name) {
                await use(client, server)
                // The engine cleans up after the end.
                try await eventually { client.transport.transferCount == 0 }
            }
            // A bare request over URLSession leaves 129 bytes, and here are up to two.
            try await operation.expectNothingLeft(count: 200, below: overLibcurl ? 16 : 400)
            await client.invalidateAndCancel().value
        }
    }

    @Test(arguments: sessionUses.map(\.name), [true, false])
    func `nothing is left in a session`(of name: String, overLibcurl: Bool) async {
        await #expect(processExitsWith: .success, "\(name)") { [name, overLibcurl] in
            let server = try Self.server()
            defer { server.stop() }
            let configuration = URLSessionConfiguration.default
            if !overLibcurl { configuration.protocolClasses = AbsentProtocol.needingSession }
            let session = URLSession(configuration: configuration)
            let use = try #require(Self.sessionUses.first { $0.name == name }).use
            try await MeteredOperation(name) { await use(session, server) }
                .expectNothingLeft(count: 200, below: overLibcurl ? 16 : 400)
        }
    }

    @Test func `nothing is left of a client that is dropped`() async {
        await #expect(processExitsWith: .success) {
            let server = try Self.server()
            defer { server.stop() }
            try await MeteredOperation("a client") {
                let client = Self.client(.libcurl)
                _ = await client.begin(server.url("/ok")).result
                await client.shutdown().value
            }.expectNothingLeft(count: 50)
        }
    }
}

extension URLRequest {
    fileprivate static func put(_ url: URL) -> URLRequest { URLRequest(url) { $0.httpMethod = "PUT" } }
}

extension Task {
    fileprivate func cancelled() async {
        cancel()
        _ = await result
    }
}
#endif
