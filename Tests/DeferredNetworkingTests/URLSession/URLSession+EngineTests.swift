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

extension URLSessionTests {
    /// The settings of a session, whichever engine sends its requests.
    @Suite("The settings of a session")
    struct Settings {
        private static func echo(_ name: String) throws -> LoopbackServer {
            try LoopbackServer { .response(headers: ["Set-Cookie": "a=1"], body: .text($0.headers[name] ?? "none")) }
        }

        @Test func `its additional headers are sent`() async throws {
            let server = try Self.echo("X-Own")
            defer { server.stop() }
            let session = URLSession.fresh { $0.httpAdditionalHeaders = ["X-Own": "mine"] }
            #expect(try await session.beginDataTask(with: server.url("/")).text() == "mine")
        }

        @Test func `those of them that are secrets stay at the host that was asked`() async throws {
            let other = try Self.echo("Authorization")
            let server = try LoopbackServer { _ in .redirect(to: "http://localhost:\(other.port)/", status: 307) }
            defer {
                server.stop()
                other.stop()
            }
            let session = URLSession.fresh { $0.httpAdditionalHeaders = ["Authorization": "secret"] }
            #expect(try await session.beginDataTask(with: server.url("/")).text() == "none")
            #expect(server.requests.last?.headers["Authorization"] == "secret")
        }

        @Test(arguments: [Double.infinity, .nan, 1e20, -5, 0])
        func `a time-out that is none harms nothing`(timeout: Double) async throws {
            let server = try Self.echo("Host")
            defer { server.stop() }
            let session = URLSession.fresh {
                $0.timeoutIntervalForRequest = timeout
                $0.timeoutIntervalForResource = timeout == 0 ? 60 : timeout
                $0.httpMaximumConnectionsPerHost = timeout > 0 ? .max : -1
            }
            #expect(await session.beginDataTask(with: server.url("/")).ending() == .status(200))
        }

        @Test func `its cookies are stored and sent`() async throws {
            let server = try Self.echo("Cookie")
            defer { server.stop() }
            let storage = URLSessionConfiguration.ephemeral.httpCookieStorage
            let session = URLSession.fresh { $0.httpCookieStorage = storage }
            #expect(try await session.beginDataTask(with: server.url("/")).text() == "none")
            #expect(try await session.beginDataTask(with: server.url("/")).text() == "a=1")
            #expect(storage?.cookies?.map(\.name) == ["a"])
            let silent = URLSession.fresh {
                $0.httpCookieStorage = storage
                $0.httpShouldSetCookies = false
            }
            #expect(try await silent.beginDataTask(with: server.url("/")).text() == "none")
        }

        @Test func `its policy and a missing storage keep cookies away`() async throws {
            let server = try Self.echo("Cookie")
            defer { server.stop() }
            let storage = URLSessionConfiguration.ephemeral.httpCookieStorage
            let refusing = URLSession.fresh {
                $0.httpCookieStorage = storage
                $0.httpCookieAcceptPolicy = .never
            }
            for session in [refusing, URLSession.fresh { $0.httpCookieStorage = nil }] {
                for _ in 0..<2 {
                    #expect(try await session.beginDataTask(with: server.url("/")).text() == "none")
                }
            }
            #expect(storage?.cookies?.isEmpty == true)
        }

        @Test func `its time-out for requests ends a silence, and that of a request replaces it`() async throws {
            let server = try LoopbackServer { _ in [.stall] }
            defer { server.stop() }
            let session = URLSession.fresh { $0.timeoutIntervalForRequest = 1 }
            let first = session.beginDataTask(with: server.url("/"))
            let second = session.beginDataTask(with: URLRequest(server.url("/")) { $0.timeoutInterval = 30 })
            let error = await first.failure() as? URLError
            #expect(error?.code == .timedOut && error?.failingURL == server.url("/"))
            #expect(!second.isFilled)
            second.cancel()
        }

        @Test func `its connections per host are a limit`() async throws {
            let isLimited = Deferred<Void>()
            let server = try LoopbackServer { _ in
                isLimited.wait()
                return .response(body: "hello")
            }
            defer {
                isLimited.fill()
                server.stop()
            }
            let session = URLSession.fresh { $0.httpMaximumConnectionsPerHost = 2 }
            let tasks = (0..<12).map { _ in session.beginDataTask(with: server.url("/")) }
            try await eventually { server.connectionCount == 2 }
            isLimited.fill()
            for task in tasks { #expect(await task.ending() == .status(200)) }
            #expect(server.connectionCount == 2)
        }
    }

    #if os(Linux)
    @Suite("The choice of the engine")
    struct Choice {
        private func engine(
            of session: URLSession,
            configure: EngineTaskConfiguration? = nil
        ) -> any Engine {
            session.retainedEngine(for: SessionDelegateDecider(session), configure).engine
        }

        private func session(
            _ delegate: (any URLSessionDelegate)? = nil,
            _ change: (URLSessionConfiguration) -> Void = { _ in }
        ) -> URLSession {
            let configuration = URLSessionConfiguration.ephemeral
            change(configuration)
            return URLSession(configuration: configuration, delegate: delegate, delegateQueue: nil)
        }

        @Test func `requests go over libcurl unless they need a session`() {
            #expect(engine(of: .shared) is LibcurlEngine)
            #expect(engine(of: session()) is LibcurlEngine)
            #expect(engine(of: session(), configure: { _ in }) is URLSessionEngine)
            #expect(engine(of: session(DecidingDelegate())) is URLSessionEngine)
            #expect(engine(of: session { $0.protocolClasses = [StubProtocol.self] }) is URLSessionEngine)
        }

        @Test func `a stub gets the requests of every door, and the network gets none`() async throws {
            let server = try LoopbackServer { _ in .response(500) }
            defer { server.stop() }
            let folder = try TemporaryDirectory()
            let stubbed = session()
            // After a request, too: the configuration of a session can be changed.
            #expect(await stubbed.beginDataTask(with: server.url("/ok")).ending() == .status(500))
            stubbed.configuration.protocolClasses = [StubProtocol.self]
            let post = URLRequest(server.url("/ok")) { $0.httpMethod = "POST" }
            #expect(try await stubbed.beginDataTask(with: server.url("/ok")).text() == "hello")
            #expect(try await stubbed.beginUploadTask(with: post, from: Data("1".utf8)).text() == "hello")
            _ = try await stubbed.beginDownloadTask(with: server.url("/ok"), to: folder.file).get()
            #expect(try String(contentsOf: folder.file, encoding: .utf8) == "hello")
            let client = URLClient.fresh { $0.session.protocolClasses = [StubProtocol.self] }
            #expect(try await client.upload(post, from: .data(Data("1".utf8))).text() == "hello")
            let (file, _) = try await client.download(server.url("/ok"), to: folder.file).get()
            #expect(try String(contentsOf: file, encoding: .utf8) == "hello")
            let stream = try await client.stream(server.url("/ok")).get()
            #expect(stream.head.status == 200)
            #expect(server.requests.count == 1)
        }

        @Test func `a session has an engine of each kind, as its requests need them`() {
            let session = session()
            let first = engine(of: session)
            let other = engine(of: session, configure: { _ in })
            #expect(engine(of: session) === first && engine(of: session, configure: { _ in }) === other)
        }

        @Test func `a server that URLSession can't read is no obstacle`() async throws {
            let server = try LoopbackServer { _ in
                .raw("HTTP/1.1 200\r\nContent-Length:5\r\nConnection:close\r\n\r\nhello")
            }
            defer { server.stop() }
            #expect(try await session().beginDataTask(with: server.url("/")).text() == "hello")
        }

        @Test func `sessions share one thread, and their connections close with them`() async throws {
            await #expect(processExitsWith: .success) {
                let server = try LoopbackServer { _ in .response(body: "hello") }
                do {
                    let sessions = (0..<8).map { _ in URLSession(configuration: .ephemeral) }
                    for session in sessions {
                        let text = try await session.beginDataTask(with: server.url("/")).text()
                        precondition(text == "hello")
                    }
                    let threads = try FileManager.default.contentsOfDirectory(atPath: "/proc/self/task").filter {
                        try String(contentsOfFile: "/proc/self/task/\($0)/comm", encoding: .utf8) == "Deferred.curl\n"
                    }
                    precondition(threads.count == 1 && server.openConnectionCount == 8)
                    withExtendedLifetime(sessions) {}
                }
                // The next use of any session notices that the others are gone.
                _ = URLSessionEngine.retainedEngine(for: URLSession(configuration: .ephemeral))
                try await eventually { server.openConnectionCount == 0 }
                server.stop()
            }
        }
    }
    #endif
}
