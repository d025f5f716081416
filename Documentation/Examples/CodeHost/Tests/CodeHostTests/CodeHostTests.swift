import CodeHost
import Deferred
import DeferredTesting
import Foundation
import Testing

@Suite(.timeLimit(.minutes(1)))
struct CodeHostTests {
    private let server: LoopbackServer
    private let host: CodeHost
    private let storage = OAuth.MemoryStorage(.init(access: "first"))

    init() throws {
        server = try LoopbackServer { request in
            switch (request.method, request.path) {
            case ("POST", "/device"):
                return .json(
                    #"{"device_code": "d", "user_code": "AB-CD", "verification_uri": "http://h/", "expires_in": 60, "interval": 0}"#
                )
            case ("POST", "/token"):
                return .json(#"{"access_token": "second", "expires_in": 3600}"#)
            case _ where !["Bearer first", "Bearer second"].contains(request.headers["Authorization"]):
                return .response(401)
            case _ where request.query("topics") == "silence":
                return [.stall]
            case ("GET", "/v1/repositories") where request.query("page") == nil:
                let next = "\(request.target)&page=2"
                return .response(
                    headers: ["Link": "<\(next)>; rel=\"next\""],
                    body: #"[{"id": 1, "name": "a"}, {"id": 2, "name": "b"}]"#
                )
            case ("GET", "/v1/repositories"):
                return .json(#"[{"id": 3, "name": "c"}]"#)
            case ("POST", "/v1/repositories/1/files"):
                let length = request.headers["Content-Length"] ?? "none"
                return .json(#"{"url": "http://h/\#(length)"}"#)
            case ("GET", "/v1/repositories/1/events") where request.headers["Last-Event-ID"] == nil:
                return .response(
                    headers: ["Content-Type": "text/event-stream"],
                    body: "retry: 0\nid: 1\nevent: push\ndata: {\"commit\": \"c0ffee\"}\n\nevent: star\ndata: {}\n\n"
                )
            case ("GET", "/v1/repositories/1/events"):
                return .response(204)
            default:
                return .response(404)
            }
        }
        host = CodeHost(
            server: HTTPEnvironment(scheme: "http", host: "127.0.0.1", port: Int(server.port), pathPrefix: "/v1"),
            client: .init(id: "app", token: server.url("/token"), device: server.url("/device")),
            storage: storage
        )
    }

    private let repository = try? JSONDecoder().decode(
        CodeHost.Repository.self,
        from: Data(#"{"id": 1, "name": "a"}"#.utf8)
    )

    @Test func `somebody signs in with another device`() async throws {
        await storage.store(nil)
        var shown: [String] = []
        try await host.signIn { shown.append($0.userCode) }
        #expect(shown == ["AB-CD"])
        #expect(try await host.repositories(.init(owner: "me")).count == 3)
        #expect(server.requests.last?.headers["Authorization"] == "Bearer second")
    }

    @Test func `lists come from all pages`() async throws {
        let found = try await host.repositories(.init(owner: "me & you", topics: ["swift", "linux"]))
        #expect(found.map(\.name) == ["a", "b", "c"])
        let query = "/v1/repositories?owner=me%20%26%20you&topics=swift&topics=linux"
        #expect(server.requests.map(\.target) == [query, query + "&page=2"])
    }

    @Test func `an upload reports its progress`() async throws {
        let file = FileManager.default.temporaryDirectory.appending(path: UUID().uuidString)
        try Data(count: 100_000).write(to: file)
        defer { try? FileManager.default.removeItem(at: file) }
        let upload = try host.upload(file, to: #require(repository))
        let url = try await upload.get()
        #expect(Int(url.lastPathComponent) ?? 0 > 100_000)
        #expect(upload.progress.fractionCompleted == 1)
    }

    @Test func `pushes arrive`() async throws {
        var commits: [String] = []
        for try await push in host.pushes(to: try #require(repository)) { commits.append(push.commit) }
        #expect(commits == ["c0ffee"] && server.requestCount == 2)
    }

    @Test func `signing out ends what is in flight, and removes the tokens`() async throws {
        let (host, server) = (host, server)
        let pending = Task { try await host.repositories(.init(owner: "me", topics: ["silence"])) }
        while server.requestCount == 0 { await Task.yield() }
        await host.signOut()
        await #expect(throws: HTTPError.self) { try await pending.get() }
        #expect(await storage.tokens() == nil)
        let error = await #expect(throws: HTTPError.self) { try await host.repositories(.init(owner: "me")) }
        #expect(error?.code == .authenticationFailed)
    }
}
