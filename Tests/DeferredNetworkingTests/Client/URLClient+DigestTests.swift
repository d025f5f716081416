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
    @Suite("Digest")
    struct Digest {
        /// A server that checks each answer against the request as it arrived, and lets a nonce be used so many times.
        private static func server(_ protection: String = "auth, auth-int", uses: Int = .max) throws -> LoopbackServer {
            let nonces = Journal<Int>()
            return try LoopbackServer { request in
                if request.path == "/redirect" { return .redirect(to: "/target?x=1", status: 307) }
                func ask(isStale: Bool) -> LoopbackServer.Script {
                    nonces.add(0)
                    let fields =
                        #"realm="r", nonce="\#(nonces.entries.count)", qop="\#(protection)", algorithm=SHA-256"#
                    let stale = isStale ? ", stale=true" : ""
                    return .response(
                        401,
                        headers: ["WWW-Authenticate": "Basic realm=\"r\", Digest \(fields)\(stale)"],
                        body: "denied"
                    )
                }
                guard let field = request.headers["Authorization"] else { return ask(isStale: false) }
                let sent = AuthenticationChallenge.challenges(in: ["WWW-Authenticate": field])[0]
                let challenge = DigestChallenge(
                    AuthenticationChallenge(
                        scheme: "Digest",
                        parameters: [
                            "realm": "r", "nonce": sent["nonce"] ?? "", "qop": protection, "algorithm": "SHA-256",
                        ]
                    )
                )
                let count = UInt32(sent["nc"] ?? "", radix: 16) ?? 0
                let expected = challenge?.field(
                    user: "me",
                    password: "secret",
                    method: request.method,
                    target: request.target,
                    count: count,
                    clientNonce: sent["cnonce"] ?? "",
                    body: { request.body }
                )
                guard field == expected else { return ask(isStale: false) }
                guard count <= uses, sent["nonce"] == "\(nonces.entries.count)" else { return ask(isStale: true) }
                return .response(
                    body: .text("\(request.method) \(request.target) \(String(decoding: request.body, as: UTF8.self))")
                )
            }
        }

        private func client(_ password: String = "secret") -> URLClient {
            URLClient.fresh { $0.authentication = .digest(user: "me", password: password) }
        }

        @Test(arguments: ["auth, auth-int", "auth-int"])
        func `a challenge is answered, and the nonce used again`(protection: String) async throws {
            let server = try Self.server(protection)
            defer { server.stop() }
            let client = client()
            for (path, body) in [("/a", "one"), ("/b?c=d%20e", "two"), ("/", "")] {
                let text = try await client.begin(.post(server.url(path), Data(body.utf8))).text()
                #expect(text == "POST \(path) \(body)")
            }
            #expect(server.requestCount == 4)
        }

        @Test func `a nonce that is too old is replaced, and a wrong password refused`() async throws {
            let server = try Self.server(uses: 2)
            defer { server.stop() }
            let client = client()
            for _ in 0..<5 { #expect(try await client.begin(server.url("/a")).text() == "GET /a ") }
            #expect(server.requestCount == 5 + 3)
            let before = server.requestCount
            #expect(
                await self.client("wrong").begin(server.url("/a")).ending()
                    == .client(.unacceptableStatus(code: 401, body: Data("denied".utf8)))
            )
            #expect(server.requestCount == before + 2)
        }

        @Test func `after a redirect, the answer is one for the new URL`() async throws {
            let server = try Self.server()
            defer { server.stop() }
            let client = client()
            for _ in 0..<2 { #expect(try await client.begin(server.url("/redirect")).text() == "GET /target?x=1 ") }
            #expect(
                server.requests.map(\.path) == ["/redirect", "/target", "/redirect", "/target", "/redirect", "/target"]
            )
        }

        @Test func `another origin gets no answer`() async throws {
            let (server, other) = (try Self.server(), try Self.server())
            defer {
                server.stop()
                other.stop()
            }
            let away = try LoopbackServer { _ in .redirect(to: other.url("/").absoluteString) }
            defer { away.stop() }
            #expect(await client().begin(away.url("/")).failure() is URLClientError)
            #expect(other.requestCount == 1 && other.requests[0].headers["Authorization"] == nil)
        }

        @Test func `a body that isn't in memory gets the 401 where it would have to be covered`() async throws {
            let server = try Self.server("auth-int")
            defer { server.stop() }
            let file = try TemporaryDirectory()
            try Data("body".utf8).write(to: file.file)
            var request = URLRequest(url: server.url("/"))
            request.httpMethod = "PUT"
            #expect(await client().upload(request, from: .file(file.file)).failure() is URLClientError)
            #expect(server.requestCount == 1)
        }
    }
}
