import DeferredCache
import DeferredHTTP
import DeferredTask
import DeferredTesting
import Foundation
import Synchronization
import TestSupport
import Testing

#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

extension ConformanceTests {
    /// Header fields, cookies and validators.
    @Suite("Fields")
    struct Fields {
        typealias Route = ConformanceServer.Route

        /// Returns the fields with a name that reach the server, from a client and from a chain.
        private func sent(_ fields: [(String, String)], _ name: String, _ route: Route) async throws -> [[String]] {
            let server = try ConformanceServer(route) { _ in .response(200) }
            defer { server.stop() }
            let client = server.client()
            var request = URLRequest(url: try server.url())
            request.httpMethod = "POST"
            request.httpBody = Data("hello".utf8)
            for (name, value) in fields { request.addValue(value, forHTTPHeaderField: name) }
            #expect(try await client.begin(request).answer().status == 200)
            var chained = HTTPRequest(.post, url: try server.url(), body: .text("hello"))
            for (name, value) in fields { chained.headers.add(name: name, value: value) }
            #expect(try await URLSessionLoader(client: client).load(chained).get().status == 200)
            return server.server.requests.map { $0.headers.values(for: name) }
        }

        /// Returns the values of fields, those that are joined by commas one by one.
        private func split(_ values: [String]) -> [String] {
            values.flatMap { $0.split(separator: ",") }.map { $0.trimmingCharacters(in: .whitespaces) }
        }

        @Test(arguments: Route.available)
        func `a field of one's own is sent`(route: Route) async throws {
            #expect(try await sent([("X-Own", "VALue")], "x-own", route) == [["VALue"], ["VALue"]])
        }

        @Test(arguments: Route.available)
        func `a field without a value is sent`(route: Route) async throws {
            #expect(try await sent([("X-Empty", "")], "x-empty", route) == [[""], [""]])
        }

        @Test(arguments: Route.available)
        func `a field that is set twice is sent with both values`(route: Route) async throws {
            let values = try await sent([("X-Twice", "one"), ("X-Twice", "two")], "x-twice", route)
            #expect(values.map(split) == [["one", "two"], ["one", "two"]])
        }

        @Test(arguments: Route.available)
        func `a field that the server sends twice has both values`(route: Route) async throws {
            let server = try ConformanceServer(route) { _ in
                .response(200, headers: ["X-Twice": "one", "X-Twice": "two"])
            }
            defer { server.stop() }
            let head = try await server.client().begin(server.url()).get().1
            #expect(split(head.headers.values(for: "x-twice")) == ["one", "two"])
            if isLibcurlTested { #expect(head.headers.values(for: "x-twice") == ["one", "two"]) }
        }

        @Test(arguments: Route.available)
        func `a cookie that the server sets is sent with the next request`(route: Route) async throws {
            let server = try ConformanceServer(route) { request in
                request.path == "/set"
                    ? .response(200, headers: ["Set-Cookie": "name=\(request.number)-value"]) : .response(200)
            }
            defer { server.stop() }
            let storage = try #require(URLSessionConfiguration.ephemeral.httpCookieStorage)
            let client = server.client { $0.cookies = storage }
            let head = try await client.begin(server.url("/set")).get().1
            #expect(head.headers.values(for: "Set-Cookie") == ["name=1-value"])
            #expect(try await client.begin(server.url("/get")).answer().status == 200)
            #expect(server.server.requests[1].headers.values(for: "Cookie") == ["name=1-value"])
        }

        /// A server whose content changes each time that somebody has confirmed what it was.
        private func changingServer(_ route: Route) throws -> ConformanceServer {
            let version = Atomic(0)
            return try ConformanceServer(route) { request in
                let current = version.load(ordering: .relaxed)
                let tag = "\"\(current)\""
                guard request.headers["If-None-Match"] == tag else {
                    return .response(headers: ["ETag": tag, "X-Confirmed": "no"], body: .text("\(current)"))
                }
                version.store(current + 1, ordering: .relaxed)
                return .response(304, headers: ["ETag": tag, "X-Confirmed": "yes"])
            }
        }

        @Test(arguments: Route.available)
        func `a body that its validator confirms is taken from the cache, with the new fields`(route: Route)
            async throws
        {
            for isChain in [false, true] {
                let server = try changingServer(route)
                defer { server.stop() }
                let cache = Cache(.memory())
                let client = server.client { if !isChain { $0.cache = cache } }
                let chain = cache --> URLSessionLoader(client: client)
                for version in 0..<3 {
                    for confirmed in ["no", "yes"] {
                        let (status, headers, body): (HTTPStatus, HTTPHeaders, Data)
                        if isChain {
                            let response = try await chain.load(HTTPRequest(url: server.url())).get()
                            (status, headers, body) = (response.status, response.headers, response.body)
                        } else {
                            let answer = try await client.begin(server.url()).get()
                            (status, headers, body) = (answer.1.status, answer.1.headers, answer.0)
                        }
                        #expect(status == 200 && headers["ETag"] == "\"\(version)\"" && body == Data("\(version)".utf8))
                        #expect(headers["X-Confirmed"] == confirmed, "version \(version)")
                    }
                }
                let tags = server.server.requests.map { $0.headers["If-None-Match"] }
                #expect(tags == [nil, "\"0\"", "\"0\"", "\"1\"", "\"1\"", "\"2\""])
            }
        }
    }
}
