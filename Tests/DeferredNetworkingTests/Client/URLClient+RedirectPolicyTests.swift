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

extension URLClientTests {
    @Suite("Redirects")
    struct Redirects {
        private func server() throws -> LoopbackServer {
            try LoopbackServer { request in
                switch request.path {
                case "/old": .redirect(to: "/new", status: 307)
                case "/loop": .redirect(to: "/loop?again")
                case "/away": .redirect(to: "http://localhost:\(request.headers["X-Port"] ?? "")/new")
                default:
                    .response(
                        headers: ["X-Authorization": request.headers["Authorization"] ?? "none"],
                        body: .text("\(request.method) \(String(decoding: request.body, as: UTF8.self))")
                    )
                }
            }
        }

        @Test(arguments: OddLocation.all)
        func `a Location is resolved, and only what is illegal is encoded`(location: OddLocation) async throws {
            // The platform refuses a head that isn't UTF-8.
            for engine in URLClient.Configuration.Engine.each where location.isUTF8 || engine != .urlSession {
                let server = try LoopbackServer { request in
                    request.number == 1
                        ? .raw(.bytes(location.response(host: request.headers["Host"] ?? ""))) : .response(200)
                }
                defer { server.stop() }
                let client = URLClient.fresh {
                    $0.engine = engine
                    $0.validation = .any
                }
                let ending = await client.begin(server.url("/t/base?q=1")).ending()
                #expect(ending == .status(location.target == nil ? 302 : 200), "\(engine)")
                #if os(Linux)
                // Since 8.8, libcurl leaves out an empty query, and Foundation doesn't make up for that.
                let isLost = engine == .urlSession && LibcurlEngine.versionNumber >= 0x08_08_00
                if isLost, location.target?.last == "?" { continue }
                #endif
                #expect(server.requests.dropFirst(1).map(\.target) == (location.target.map { [$0] } ?? []))
            }
        }

        @Test(
            .enabled(if: isLibcurlTested, "URLSession tells of no redirect without its body"),
            arguments: [
                [.send("HTTP/1.1 302 Found\r\nLocation: /new\r\nContent-Length: 9\r\n\r\nmov"), .close],
                [.send("HTTP/1.1 302 Found\r\nLocation: /new\r\nContent-Length: 9\r\n\r\nmov"), .reset],
                [.send("HTTP/1.1 302 Found\r\nLocation: /new\r\nTransfer-Encoding: chunked\r\n\r\nz\r\n"), .close],
            ] as [LoopbackServer.Script]
        )
        func `a redirect is followed, though its body breaks off`(script: LoopbackServer.Script) async throws {
            let server = try LoopbackServer { $0.path == "/old" ? script : .response(body: "there") }
            defer { server.stop() }
            #expect(try await URLClient.fresh().begin(server.url("/old")).text() == "there")
        }

        @Test func `a redirect is followed with method and body`() async throws {
            let server = try server()
            defer { server.stop() }
            let request = URLRequest.post(server.url("/old"), Data("body".utf8))
            #expect(try await URLClient.fresh().begin(request).text() == "POST body")
        }

        @Test func `a body that is gone fails only a redirect that is followed`() async throws {
            let server = try server()
            defer { server.stop() }
            let client = URLClient.fresh { $0.validation = .any }
            let request = URLRequest(server.url("/old")) { $0.httpMethod = "POST" }
            for (redirects, expected) in [
                (.none, .status(307)), (.sameOrigin(), .url(.requestBodyStreamExhausted)),
                (.custom { _, _ in nil }, .status(307)),
            ] as [(URLClient.RedirectPolicy, Ending)] {
                let bytes = AsyncStream<Data> { continuation in
                    continuation.yield(Data("body".utf8))
                    continuation.finish()
                }
                var options = URLClient.RequestOptions()
                options.redirects = redirects
                #expect(await client.upload(request, from: .stream(bytes), options: options).ending() == expected)
            }
        }

        @Test func `a closure that leads elsewhere takes no secret along but its own`() async throws {
            let server = try server()
            defer { server.stop() }
            var other = try #require(URLComponents(url: server.url("/new"), resolvingAgainstBaseURL: false))
            other.host = "localhost"
            let elsewhere = try #require(other.url)
            for own in [nil, "Bearer own"] {
                let client = URLClient.fresh {
                    $0.authentication = .bearer("secret")
                    $0.redirects = .custom { _, proposal in
                        var next = proposal
                        next.url = elsewhere
                        if let own { next.setValue(own, forHTTPHeaderField: "Authorization") }
                        return next
                    }
                }
                let (_, head) = try await client.begin(server.url("/old")).get()
                #expect(head.headers["X-Authorization"] == own ?? "none")
            }
        }

        @Test(arguments: [0, 3])
        func `a loop ends at the limit with its chain`(limit: Int) async throws {
            let server = try server()
            defer { server.stop() }
            let client = URLClient.fresh { $0.redirects = .follow(atMost: limit) }
            let error = await client.begin(server.url("/loop")).failure() as? URLError
            #expect(error?.code == .httpTooManyRedirects)
            #expect(error?.localizedDescription.contains("/loop?again") == true)
            #expect(server.requestCount == limit + 1)
        }

        @Test func `a redirect that is not followed is the response`() async throws {
            let server = try server()
            defer { server.stop() }
            let client = URLClient.fresh {
                $0.redirects = .none
                $0.validation = .any
            }
            let (_, response) = try await client.begin(server.url("/old")).get()
            #expect(response.status == 307)
            #expect(response.value(of: "Location") == "/new")
            let strict = URLClient.fresh { $0.redirects = .none }
            #expect(
                await strict.begin(server.url("/old")).ending() == .client(.unacceptableStatus(code: 307, body: Data()))
            )
        }

        @Test(arguments: [
            ("ftp://user:word@host/file?token=abc&x=1", "ftp://…@host/file?token=…&x=1"),
            ("http://", "http://"), ("//user:wo/rd@ho st/?a", "…@ho st/?a"), ("/next?session=abc", nil),
        ])
        func `an error names a Location that is not followed`(location: String, shown: String?) async throws {
            for engine in URLClient.Configuration.Engine.each {
                let server = try LoopbackServer { request in
                    request.number == 1 ? .redirect(to: location) : .redirect(to: "mailto:x", status: 307)
                }
                defer { server.stop() }
                let client = URLClient.fresh { $0.engine = engine }
                let error = try #require(await client.begin(server.url("/")).failure() as? URLClientError)
                let expected = "its Location \"\(shown ?? "mailto:x")\" was not followed"
                #expect("\(error)".contains(expected), "\(engine): \(error)")
            }
        }

        @Test func `the policy of one origin follows there only`() async throws {
            let server = try server()
            defer { server.stop() }
            let client = URLClient.fresh {
                $0.redirects = .sameOrigin()
                $0.validation = .any
            }
            #expect(await client.begin(server.url("/old")).ending() == .status(200))
            let away = URLRequest(server.url("/away")) { $0.setValue("\(server.port)", forHTTPHeaderField: "X-Port") }
            #expect(await client.begin(away).ending() == .status(302))
        }

        @Test func `a credential does not cross origins`() async throws {
            let server = try server()
            defer { server.stop() }
            let client = URLClient.fresh { $0.authentication = .bearer("secret") }
            let away = URLRequest(server.url("/away")) { $0.setValue("\(server.port)", forHTTPHeaderField: "X-Port") }
            let (_, response) = try await client.begin(away).get()
            #expect(response.url.host() == "localhost")
            #expect(response.value(of: "X-Authorization") == "none")
            let (_, near) = try await client.begin(server.url("/old")).get()
            #expect(near.value(of: "X-Authorization") == "Bearer secret")
        }

        @Test func `a closure decides what is sent`() async throws {
            let server = try server()
            defer { server.stop() }
            let client = URLClient.fresh {
                $0.redirects = .custom { _, proposal in
                    var next = proposal
                    next.httpBody = Data("other".utf8)
                    return next
                }
            }
            #expect(try await client.begin(.post(server.url("/old"), Data("body".utf8))).text() == "POST other")
        }
    }
}

extension URLClient.Configuration.Engine {
    /// The engines of this platform.
    static var each: [Self] {
        #if os(Linux)
        [.urlSession, .libcurl]
        #else
        [.urlSession]
        #endif
    }
}
