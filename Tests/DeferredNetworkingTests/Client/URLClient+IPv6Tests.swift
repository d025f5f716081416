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

/// True if servers can listen on `[::1]` here.
private let hasIPv6 = (try? LoopbackServer.overIPv6(respond: { _ in .response(204) })) != nil

extension URLClientTests {
    @Suite("IPv6", .enabled(if: hasIPv6))
    struct IPv6 {
        /// Returns a client over an engine that connects to IPv6 literals.
        private static func client(_ change: (inout URLClient.Configuration) -> Void = { _ in }) -> URLClient {
            URLClient.fresh {
                if !IPv6Literals.areSupported { $0.engine = .libcurl }
                change(&$0)
            }
        }

        @Test func `each kind of request reaches a host in brackets, which is spelled so in its Host field`()
            async throws
        {
            let server = try LoopbackServer.overIPv6(respond: { request in
                .response(
                    body: .text("\(request.headers["Host"] ?? "") \(String(decoding: request.body, as: UTF8.self))")
                )
            })
            defer { server.stop() }
            let client = Self.client()
            let host = "[::1]:\(server.port)"
            #expect(server.url("/").absoluteString == "http://\(host)/")
            #expect(try await client.begin(server.url("/")).text() == "\(host) ")
            #expect(try await client.upload(server.url("/"), from: .data(Data("body".utf8))).text() == "\(host) body")
            let folder = try TemporaryDirectory()
            let (file, response) = try await client.download(server.url("/"), to: folder.file).get()
            #expect(try String(contentsOf: file, encoding: .utf8) == "\(host) ")
            #expect(response.url == server.url("/"))
            var body = Data()
            for try await bytes in try await client.stream(server.url("/")).get().body { body += bytes }
            #expect(body == Data("\(host) ".utf8))
        }

        @Test func `redirects to a host in brackets and back are followed, and take no credentials along`() async throws
        {
            let seen = Log<String>()
            let answer: @Sendable (LoopbackServer.Request) -> LoopbackServer.Script = { request in
                let fields = [request.headers["Authorization"], request.headers["Cookie"]].map { $0 ?? "none" }
                seen.add("\(request.method) \(request.path) \(fields.joined(separator: " "))")
                return request.query("to").map { .redirect(to: $0, status: 307) } ?? .response(body: "arrived")
            }
            let servers = (try LoopbackServer(respond: answer), try LoopbackServer.overIPv6(respond: answer))
            defer {
                servers.0.stop()
                servers.1.stop()
            }
            for (first, second) in [servers, (servers.1, servers.0)] {
                var request = URLRequest.post(first.url("/here?to=\(second.url("/there"))"), Data("body".utf8))
                request.setValue("Bearer secret", forHTTPHeaderField: "Authorization")
                request.setValue("a=secret", forHTTPHeaderField: "Cookie")
                let (body, response) = try await Self.client().begin(request).get()
                #expect(body == Data("arrived".utf8) && response.url == second.url("/there"))
            }
            let once = ["POST /here Bearer secret a=secret", "POST /there none none"]
            #expect(seen.entries == once + once)
        }

        @Test func `the policy of one origin tells the loopback addresses of both versions apart`() async throws {
            let other = try LoopbackServer { _ in .response(204) }
            defer { other.stop() }
            let server = try LoopbackServer.overIPv6(respond: { _ in .redirect(to: other.url("/").absoluteString) })
            defer { server.stop() }
            let client = Self.client {
                $0.redirects = .sameOrigin()
                $0.validation = .any
            }
            #expect(await client.begin(server.url("/")).ending() == .status(302))
            #expect(other.requestCount == 0)
        }

        @Test func `a cookie of one address does not go to the other`() async throws {
            let answer: @Sendable (LoopbackServer.Request) -> LoopbackServer.Script = { request in
                .response(headers: ["Set-Cookie": "a=1"], body: .text(request.headers["Cookie"] ?? "none"))
            }
            let server = try LoopbackServer.overIPv6(respond: answer)
            let other = try LoopbackServer(respond: answer)
            defer {
                server.stop()
                other.stop()
            }
            let session = URLSessionConfiguration.ephemeral
            let client = Self.client { $0.cookies = session.httpCookieStorage }
            #expect(try await client.begin(server.url("/")).text() == "none")
            #expect(try await client.begin(server.url("/")).text() == "a=1")
            #expect(try await client.begin(other.url("/")).text() == "none")
        }

        #if os(Linux)
        @Test func `a zone is the name or the number of an interface, and stays out of the Host field`() async throws {
            let server = try LoopbackServer.overIPv6(respond: { .response(body: .text($0.headers["Host"] ?? "")) })
            defer { server.stop() }
            for zone in ["lo", "\(if_nametoindex("lo"))"] {
                let url = try #require(URL(string: "http://[::1%25\(zone)]:\(server.port)/"))
                #expect(try await Self.client().begin(url).text() == "[::1]:\(server.port)")
            }
        }

        @Test(arguments: ["nosuch", "999999", "a%20b", ""])
        func `a zone that isn't there is refused with its name`(zone: String) throws {
            let url = try #require(URL(string: "http://[fe80::1%25\(zone)]/"))
            guard case .failure(let error) = try #require(Self.client().begin(url).peek()) else { return }
            let description = try #require(error as? URLClientError).description
            #expect(description.contains("the zone \"\(zone)\" of the host \"fe80::1%25\(zone)\" is not a network"))
            #expect(description.contains("use the name or the number of one"))
        }
        #endif
    }
}

#if canImport(FoundationNetworking)
extension URLClientTests {
    @Suite("IPv6 over URLSession", .enabled(if: !IPv6Literals.areSupported))
    struct IPv6OverURLSession {
        @Test func `a host in brackets is refused at once, with the engine that connects to it`() async throws {
            let client = URLClient.fresh { $0.engine = .urlSession }
            for host in ["::1", "fe80::1%25eth0", "::ffff:127.0.0.1"] {
                let url = try #require(URL(string: "http://[\(host)]:9/"))
                let tasks = [
                    client.begin(url).ignored(),
                    URLSession.fresh({ $0.protocolClasses = AbsentProtocol.needingSession }).beginDataTask(with: url)
                        .ignored(),
                ]
                for task in tasks {
                    guard case .failure(let error as URLClientError) = try #require(task.peek()) else { return }
                    #expect(
                        error.description
                            == "The request cannot be sent: the host \"\(host)\" is an IPv6 literal, which "
                            + "URLSession cannot connect to in this version of Foundation; use a URLClient with the "
                            + "engine .libcurl, a host name, or an IPv4 address: \"\(url)\""
                    )
                }
            }
        }

        @Test func `a redirect to a host in brackets fails with its URL`() async throws {
            let server = try LoopbackServer { _ in .redirect(to: "http://[::1]:9/there") }
            defer { server.stop() }
            let client = URLClient.fresh { $0.engine = .urlSession }
            for error in [
                await client.begin(server.url("/")).failure(),
                await URLSession.fresh({ $0.protocolClasses = AbsentProtocol.needingSession }).beginDataTask(
                    with: server.url("/")
                ).failure(),
            ] {
                let error = try #require(error as? URLClientError)
                #expect(error.url?.absoluteString == "http://[::1]:9/there")
                #expect(error.description.contains("is an IPv6 literal") && error.description.contains(".libcurl"))
            }
        }
    }
}
#endif
