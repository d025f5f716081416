import DeferredCore
import DeferredTask
import DeferredTesting
import Foundation
import TestSupport
import Testing

@testable import DeferredHTTP

/// Tokens that are fetched as a challenge asks, and kept by scope: the way of container registries.
@Suite(.ownThread, .timeLimit(.minutes(1)))
struct BearerChallengeTests {
    private let asked = Journal<String>()

    /// A server that wants a token for the first segment of the path.
    private func registry(refusing revoked: String? = nil) -> StubLoader {
        StubLoader { request in
            let scope = String(request.path.dropFirst().prefix { $0 != "/" })
            let field = request.headers["Authorization"]
            if let field, field.hasPrefix("Bearer token of \(scope)"), field != revoked { return .response() }
            let challenge = #"Basic realm="x", Bearer realm="https://auth/token",scope="\#(scope)""#
            return .response(401, headers: ["WWW-Authenticate": challenge], body: "denied")
        }
    }

    private func bearer() -> BearerAuthentication {
        BearerAuthentication(hosts: ["registry"], scope: { String($0.path.dropFirst().prefix { $0 != "/" }) }) {
            [asked] refusal in
            let challenge = refusal.challenges.first { $0.isOf("Bearer") }
            let scope = challenge?["scope"] ?? ""
            asked.add(
                "\(scope) \(refusal.scope) \(challenge?["realm"] ?? "") \(refusal.response.text) \(refusal.token ?? "-")"
            )
            return .success("token of \(scope) \(asked.entries.count)")
        }
    }

    @Test func `the closure sees the challenge, and each scope has its token`() {
        let (registry, bearer) = (registry(), bearer())
        let chain = bearer --> registry
        for path in ["/a/1", "/b/1", "/a/2", "/b/2", "/a/3"] {
            #expect(chain.load(HTTPRequest(host: "registry", path: path)).statusNow == .ok)
        }
        #expect(asked.entries == ["a a https://auth/token denied -", "b b https://auth/token denied -"])
        #expect(registry.requests.count == 5 + 2 && registry.requests[0].headers["Authorization"] == nil)
        _ = chain.reset()
        #expect(chain.load(HTTPRequest(host: "registry", path: "/a/4")).statusNow == .ok)
        #expect(asked.entries.count == 3)
    }

    @Test func `a token that is refused is told, and one refresh serves all of a scope`() throws {
        let promise = Task<String>.Promise()
        let refusals = Journal<String?>()
        let chain =
            BearerAuthentication(hosts: ["registry"], scope: { _ in "" }) { refusal in
                refusals.add(refusal.token)
                return refusals.entries.count == 1 ? .success("token of a 1") : Task(promise)
            } --> registry(refusing: "Bearer token of a 1")
        let tasks = (0..<3).map { _ in chain.load(HTTPRequest(host: "registry", path: "/a/1")) }
        // The first fetches a token that is refused, too: its response is the result.
        #expect(tasks[0].statusNow == .unauthorized && refusals.entries == [nil, "token of a 1"])
        promise.succeed(with: "token of a 2")
        for task in tasks.dropFirst() { #expect(task.statusNow == .ok) }
        #expect(refusals.entries.count == 2)
    }

    @Test func `other hosts ask in vain, and a failure is the reason`() {
        let chain = bearer() --> registry()
        #expect(chain.load(HTTPRequest(host: "other", path: "/a")).statusNow == .unauthorized && asked.entries.isEmpty)
        let failing = BearerAuthentication(hosts: ["registry"], scope: { _ in "" }) { _ in
            .failure(CocoaError(.featureUnsupported))
        }
        #expect(
            (failing --> registry()).load(HTTPRequest(host: "registry", path: "/a")).codeNow == .authenticationFailed
        )
    }

    @Test func `a server that a redirect names gets no token, and doesn't say where one is to be had`() {
        let stub = StubLoader { request in
            request.host == "registry"
                ? .response(307, headers: ["Location": "https://evil.example/blob"])
                : .response(401, headers: ["WWW-Authenticate": #"Bearer realm="https://evil.example/token""#])
        }
        // Followed by a loader, and as by the client of the terminal loader.
        struct Redirected: HTTPLoader {
            func load(_ task: HTTPTask) {
                let url = URL(string: "https://evil.example/blob")
                task.succeed(401, headers: ["WWW-Authenticate": "Bearer"], url: url)
            }
        }
        for chain in [bearer() --> FollowRedirects() --> stub, bearer() --> Redirected()] {
            #expect(chain.load(HTTPRequest(host: "registry", path: "/a/1")).statusNow == .unauthorized)
        }
        #expect(asked.entries.isEmpty && stub.requests.allSatisfy { $0.headers["Authorization"] == nil })
    }

    @Test func `a reset forgets the tokens of all scopes`() async {
        let (registry, bearer) = (registry(), bearer())
        let chain = bearer --> registry
        for path in ["/a/1", "/b/1"] { #expect(chain.load(HTTPRequest(host: "registry", path: path)).statusNow == .ok) }
        await chain.reset().value
        for path in ["/a/1", "/b/1"] { #expect(chain.load(HTTPRequest(host: "registry", path: path)).statusNow == .ok) }
        #expect(asked.entries.count == 4)
    }
}
