import DeferredCore
import DeferredTask
import DeferredTesting
import Foundation
import TestSupport
import Testing

@testable import DeferredNetworking

#if canImport(FoundationNetworking)
import CLibcurl
import FoundationNetworking
#endif

extension URLClientTests {
    @Suite("The choice of the engine")
    struct EngineChoice {
        private static func client(_ change: (inout URLClient.Configuration) -> Void) -> URLClient {
            var configuration = URLClient.Configuration()
            configuration.retries = .none
            change(&configuration)
            return URLClient(configuration: configuration)
        }

        #if os(Linux)
        @Test func `on Linux it is libcurl, and the client says which version`() {
            #expect(URLClient().engine == "libcurl \(String(cString: libcurl_version()))")
            #expect(Self.client { $0.engine = .libcurl }.engine == URLClient().engine)
            #expect(Self.client { $0.engine = .urlSession }.engine == "URLSession")
        }

        @Test func `protocol classes of the caller's need a session, and get their requests`() async throws {
            let url = try #require(URL(string: "http://127.0.0.1:9/ok"))
            let client = Self.client { $0.session.protocolClasses = [StubProtocol.self] }
            #expect(client.engine == "URLSession: protocolClasses has 1 class")
            #expect(try await client.begin(url).text() == "hello")
            let two = Self.client { $0.session.protocolClasses = [StubProtocol.self, StubProtocol.self] }
            #expect(two.engine == "URLSession: protocolClasses has 2 classes")
        }

        @Test func `the platform's own protocol classes need none`() {
            let client = Self.client { $0.session.protocolClasses = URLSessionConfiguration.default.protocolClasses }
            #expect(client.engine == URLClient().engine)
        }

        @Test func `libcurl refuses protocol classes instead of sending their requests to the network`() async throws {
            let server = try LoopbackServer { _ in .response(200) }
            defer { server.stop() }
            let client = Self.client {
                $0.engine = .libcurl
                $0.session.protocolClasses = [StubProtocol.self]
            }
            guard case .client(let error) = await client.begin(server.url("/ok")).ending(),
                case .engineUnavailable(let reason) = error.code
            else {
                Issue.record("not refused")
                return
            }
            #expect(reason.contains("protocolClasses") && reason.contains(".urlSession"))
            #expect(server.connectionCount == 0)
        }

        @Test func `a setting for libcurl beside protocol classes is refused, with the reason for the session`()
            async throws
        {
            let url = try #require(URL(string: "http://127.0.0.1:9/ok"))
            let client = Self.client {
                $0.session.protocolClasses = [StubProtocol.self]
                $0.unixSocketPath = "/nowhere"
            }
            guard case .client(let error) = await client.begin(url).ending(),
                case .engineUnavailable(let reason) = error.code
            else {
                Issue.record("not refused")
                return
            }
            #expect(reason.contains("unixSocketPath") && reason.contains("protocolClasses has 1 class"))
        }

        @Test func `settings of connections are refused by the other engine, but not their defaults`() async throws {
            let changes: [(String?, (inout URLClient.Configuration) -> Void)] = [
                (nil, { $0.connectionIdleTimeout = .seconds(50) }), ("resolve", { $0.resolve["a:80"] = ["127.0.0.1"] }),
                ("connectionIdleTimeout", { $0.connectionIdleTimeout = nil }),
                ("connectionLifetime", { $0.connectionLifetime = .seconds(1) }),
            ]
            for (setting, change) in changes {
                let client = Self.client {
                    $0.engine = .urlSession
                    change(&$0)
                }
                let ending = await client.begin(URL(filePath: "/")).failure() as? URLClientError
                guard case .engineUnavailable(let reason) = ending?.code else {
                    #expect(setting == nil)
                    continue
                }
                #expect(setting.map { reason.hasPrefix("\($0) is not supported by .urlSession") } == true)
            }
        }

        @Test func `a stream over the chosen engine has back pressure`() async throws {
            #expect(ClientEngines.streamBufferLimit(of: URLClient().transport.configuration) == 1 << 20)
        }
        @Test func `clients and sessions over URLSession that are released at once let their requests end`()
            async throws
        {
            let server = try LoopbackServer { request in
                .response(headers: ["Set-Cookie": "n=\(request.number)"], body: "hello")
            }
            defer { server.stop() }
            let endings = Log<Ending>()
            let rounds = rounds(100)
            for _ in 0..<rounds {
                let task = Self.client {
                    $0.engine = .urlSession
                    $0.cookies = URLSessionConfiguration.ephemeral.httpCookieStorage
                }.begin(server.url("/"))
                let configuration = URLSessionConfiguration.ephemeral
                configuration.protocolClasses = AbsentProtocol.needingSession
                let session = URLSession(configuration: configuration)
                let other = session.beginDataTask(with: server.url("/"))
                session.invalidateAndCancel()
                endings.add(await task.ending())
                endings.add(await other.ending())
            }
            #expect(endings.entries == Array(repeating: .status(200), count: 2 * rounds))
            // Nothing of the sessions is left. Foundation may release one later than the last transfer on it, and only a further
            // transfer looks for those that are gone.
            let later = URLSession(configuration: .ephemeral)
            try await eventually {
                _ = URLSessionEngine.retainedEngine(for: later)
                return server.openConnectionCount == 0
            }
        }
        #else
        @Test func `on Apple's platforms it is URLSession`() {
            #expect(URLClient().engine == "URLSession")
        }
        #endif
    }
}
