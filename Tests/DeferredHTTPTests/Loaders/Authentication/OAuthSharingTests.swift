import DeferredCore
import DeferredTask
import DeferredTesting
import Foundation
import TestSupport
import Testing

@testable import DeferredHTTP

final class Shared<Value: Sendable>: Sendable {
    let value: Lock<Value>

    init(_ value: sending Value) { self.value = Lock(value) }
}

/// An OAuth server that rotates refresh tokens, and revokes all when one is used again.
final class RotatingServer: HTTPLoader {
    private struct State {
        var generation = 1
        var isRevoked = false
        var refreshes = 0
    }

    private let state = Shared(State())
    private let stub: StubLoader

    /// - Parameter delay: The time that a renewal takes.
    init(delay: Duration = .milliseconds(20)) {
        stub = StubLoader { [state] request in
            let form = String(decoding: request.body.bytesInMemory ?? Data(), as: UTF8.self)
            return state.value.withLock { state in
                state.refreshes += 1
                guard !state.isRevoked, form.split(separator: "&").contains("refresh_token=r\(state.generation)") else {
                    state.isRevoked = true
                    return .json(#"{"error": "invalid_grant"}"#, status: 400)
                }
                state.generation += 1
                let tokens = #"{"access_token": "a\#(state.generation)", "refresh_token": "r\#(state.generation)"}"#
                return .json(tokens).delayed(by: delay)
            }
        }
    }

    var refreshes: Int { state.value.withLock { $0.refreshes } }
    var isRevoked: Bool { state.value.withLock { $0.isRevoked } }

    func load(_ task: HTTPTask) { stub.load(task) }

    /// The resource server, which accepts the newest access token.
    var api: StubLoader {
        StubLoader { [state] request in
            let newest = state.value.withLock { "Bearer a\($0.generation)" }
            return request.headers["Authorization"] == newest ? .response(200) : .response(401)
        }
    }
}

@Suite(.ownThread, .timeLimit(.minutes(1)))
struct OAuthSharingTests {
    private static let now = Date(timeIntervalSince1970: 1_000_000)

    private func url(_ text: String) throws -> URL { try #require(URL(string: text)) }

    private func client(
        secret: String? = nil,
        grant: OAuth.Client.Grant = .signIn,
        secretPlace: OAuth.Client.SecretPlace = .header,
        parameters: [URLQueryItem] = []
    ) throws -> OAuth.Client {
        OAuth.Client(
            id: "app",
            secret: secret,
            token: try url("https://auth/token"),
            authorization: try url("https://auth/authorize"),
            scopes: ["a", "b"],
            grant: grant,
            secretPlace: secretPlace,
            parameters: parameters
        )
    }

    @Test func `four processes with one file renew its tokens one after the other`() async throws {
        let folder = try TemporaryDirectory()
        let server = RotatingServer()
        let api = server.api
        // What they share is the file alone.
        for round in 1...3 {
            let storages = (0..<4).map { _ in OAuth.FileStorage(folder.file) }
            try storages[0].store(.init(access: "a0", refresh: "r\(round)"))
            let chains = try storages.map {
                try OAuth(client(), storage: $0, hosts: ["example.com"], over: server) --> api
            }
            let tasks = (0..<20).map { chains[$0 % 4].load(.example) }
            for task in tasks { #expect(try await task.get().status == .ok) }
            #expect(server.refreshes == round && !server.isRevoked)
        }
    }

    @Test func `tokens that the server has revoked are removed, and nobody asks with them again`() async throws {
        let server = RotatingServer()
        let api = server.api
        let storage = OAuth.MemoryStorage(.init(access: "a0", refresh: "stolen"))
        let chains = try (0..<2).map { _ in
            try OAuth(client(), storage: storage, hosts: ["example.com"], over: server) --> api
        }
        let tasks = (0..<6).map { chains[$0 % 2].load(.example) }
        var failures: [OAuth.Failure] = []
        for task in tasks {
            let error = await #expect(throws: HTTPError.self) { try await task.get() }
            #expect(error?.code == .authenticationFailed)
            if let failure = error?.underlying as? OAuth.Failure { failures.append(failure) }
        }
        #expect(failures.count == 6 && failures.allSatisfy { $0.needsSignIn && "\($0)".contains("; sign in") })
        #expect(server.refreshes == 1)
        #expect(await storage.tokens() == nil)
    }

    @Test func `other refusals are not final`() async throws {
        let tokens = OAuth.Tokens(access: "a0", refresh: "r")
        for answer in [StubLoader.Answer.response(503), .json(#"{"error": "invalid_client"}"#, status: 401)] {
            let (storage, server) = (OAuth.MemoryStorage(tokens), StubLoader(answer))
            let chain =
                try OAuth(client(), storage: storage, hosts: ["example.com"], over: server)
                --> StubLoader(.response(401))
            for _ in 0..<2 { await #expect(throws: HTTPError.self) { try await chain.load(.example).get() } }
            #expect(server.requests.count == 2)
            #expect(await storage.tokens() == tokens)
        }
    }

    @Test func `an answer that is lost after the server has rotated ends in another sign-in`() async throws {
        let server = StubLoader(.failure(.connectionLost), .json(#"{"error": "invalid_grant"}"#, status: 400))
        let storage = OAuth.MemoryStorage(.init(access: "a0", refresh: "r"))
        let chain =
            try OAuth(client(), storage: storage, hosts: ["example.com"], over: server) --> StubLoader(.response(401))
        let lost = await #expect(throws: HTTPError.self) { try await chain.load(.example).get() }
        #expect(lost?.code == .authenticationFailed && (lost?.underlying as? HTTPError)?.code == .connectionLost)
        let refused = await #expect(throws: HTTPError.self) { try await chain.load(.example).get() }
        #expect((refused?.underlying as? OAuth.Failure)?.needsSignIn == true)
        let after = await #expect(throws: HTTPError.self) { try await chain.load(.example).get() }
        #expect(after?.underlying as? OAuth.Failure == .signedOut && server.requests.count == 2)
    }

    /// A storage that can't store at first.
    private actor FullStorage: OAuth.Storage {
        struct Full: Error {}

        private var current: OAuth.Tokens?
        private var isFull = true

        init(_ tokens: OAuth.Tokens) { current = tokens }

        func tokens() -> OAuth.Tokens? { current }

        func store(_ tokens: OAuth.Tokens?) throws {
            if isFull {
                isFull = false
                throw Full()
            }
            current = tokens
        }
    }

    @Test func `tokens that the storage has not taken are stored by the next renewal`() async throws {
        let (server, storage) = (RotatingServer(), FullStorage(.init(access: "a0", refresh: "r1")))
        let chain = try OAuth(client(), storage: storage, hosts: ["example.com"], over: server) --> server.api
        let error = await #expect(throws: HTTPError.self) { try await chain.load(.example).get() }
        #expect(error?.code == .authenticationFailed && error?.underlying is FullStorage.Full)
        #expect(try await chain.load(.example).get().status == .ok)
        #expect(server.refreshes == 1 && !server.isRevoked)
        let stored = await storage.tokens()
        #expect(stored?.access == "a2" && stored?.refresh == "r2")
    }

    @Test func `a leeway is at most a fifth of a token's lifetime`() async throws {
        let server = StubLoader(.json(#"{"access_token": "new", "refresh_token": "r", "expires_in": 10}"#))
        let (api, time) = (StubLoader(.response()), Shared(Self.now))
        let storage = OAuth.MemoryStorage(.init(access: "old", refresh: "r", expiry: Self.now))
        let oauth = try OAuth(
            client(),
            storage: storage,
            hosts: ["example.com"],
            over: server,
            now: { time.value.withLock { $0 } }
        )
        for (seconds, count) in [(0.0, 1), (7.9, 1), (8.1, 2)] {
            time.value.withLock { $0 = Self.now + seconds }
            for _ in 0..<3 { #expect(try await (oauth --> api).load(.example).get().status == .ok) }
            #expect(server.requests.count == count, "\(seconds)")
        }
        let tokens = OAuth.Tokens(access: "a", expiry: Self.now + 3600, issued: Self.now)
        #expect(
            tokens.renewal(.milliseconds(1500)) == Self.now + 3598.5 && tokens.renewal(.seconds(900)) == Self.now + 2880
        )
    }

    @Test func `an application gets tokens for itself, with further parameters`() async throws {
        let server = StubLoader(.json(#"{"access_token": "new", "expires_in": 3600}"#))
        let api = StubLoader { $0.headers["Authorization"] == "Bearer new" ? .response() : .response(401) }
        let parameters = ["https://one", "https://two"].map { URLQueryItem(name: "resource", value: $0) }
        for place in [OAuth.Client.SecretPlace.header, .body] {
            let client = try client(secret: "s", grant: .clientCredentials, secretPlace: place, parameters: parameters)
            let chain = OAuth(client, hosts: ["example.com"], over: server) --> api
            for _ in 0..<2 { #expect(try await chain.load(.example).get().status == .ok) }
        }
        #expect(server.requests.count == 2)
        let bodies = server.requests.map { String(decoding: $0.body.bytesInMemory ?? Data(), as: UTF8.self) }
        let tail = "grant_type=client_credentials&scope=a+b&resource=https%3A%2F%2Fone&resource=https%3A%2F%2Ftwo"
        #expect(bodies.map { $0.replacing("%20", with: "+") } == [tail, "client_id=app&client_secret=s&" + tail])
        #expect(server.requests.map { $0.headers["Authorization"] != nil } == [true, false])
    }

    @Test func `a sign-out doesn't wait for ever for another process`() async throws {
        let folder = try TemporaryDirectory()
        let (mine, other) = (OAuth.FileStorage(folder.file), OAuth.FileStorage(folder.file))
        try mine.store(.init(access: "a", refresh: "r"))
        let (entered, end, clock) = (Deferred<Void>(), Deferred<Void>(), ManualClock())
        let held = Task {
            try await other.withExclusiveAccess {
                entered.fill()
                await end.value
            }
        }
        await entered.value
        let oauth = try OAuth(client(), storage: mine, over: StubLoader(), clock: clock)
        let reset = oauth.reset()
        try await clock.waitForSleepers()
        #expect(try mine.tokens() != nil)
        clock.advance(by: .seconds(5))
        await reset.value
        #expect(try mine.tokens() == nil)
        end.fill()
        try await held.value
    }
}
