import DeferredCache
import DeferredCore
import DeferredTask
import DeferredTesting
import Foundation
import TestSupport
import Testing

@testable import DeferredHTTP

@Suite(.ownThread, .timeLimit(.minutes(1)))
struct OAuthTests {
    private static let now = Date(timeIntervalSince1970: 1_000_000)

    /// Returns the fields of a form.
    private static func form(_ request: HTTPRequest) -> [String: String] {
        guard case .data(let data)? = request.body.pieces.first else { return [:] }
        let query = HTTPRequest(
            url: URL(
                string: "http://h/?" + String(decoding: data, as: UTF8.self).replacingOccurrences(of: "+", with: "%20")
            ) ?? URL(filePath: "/")
        )
        return Dictionary(query.query.map { ($0.name, $0.value ?? "") }) { one, _ in one }
    }

    private func url(_ text: String) throws -> URL { try #require(URL(string: text)) }

    private func client(secret: String? = nil) throws -> OAuth.Client {
        try OAuth.Client(
            id: "app",
            secret: secret,
            token: url("https://auth/token"),
            device: url("https://auth/device"),
            authorization: url("https://auth/authorize"),
            scopes: ["a", "b"]
        )
    }

    private let api = StubLoader { request in
        request.headers["Authorization"] == "Bearer new" ? .response(200) : .response(401)
    }

    @Test func `a token is renewed before it expires, once for all`() async throws {
        let server = StubLoader { request in
            Self.form(request)["refresh_token"] == "r1"
                ? .json(#"{"access_token": "new", "expires_in": 3600}"#) : .response(400)
        }
        let storage = OAuth.MemoryStorage(.init(access: "old", refresh: "r1", expiry: Self.now + 20))
        let oauth = try OAuth(client(), storage: storage, over: server, now: { Self.now })
        let chain = oauth --> ApplyEnvironment(HTTPEnvironment(host: "api")) --> api
        let tasks = (0..<5).map { _ in chain.load(HTTPRequest(path: "/")) }
        for task in tasks { #expect(try await task.get().status == .ok) }
        #expect(server.requests.count == 1 && api.requests.allSatisfy { $0.headers["Authorization"] == "Bearer new" })
        #expect(
            Self.form(server.requests[0]) == ["grant_type": "refresh_token", "refresh_token": "r1", "client_id": "app"]
        )
        let stored = await storage.tokens()
        #expect(stored == .init(access: "new", refresh: "r1", expiry: Self.now + 3600, issued: Self.now))
    }

    @Test func `a refused token is renewed, with another scheme, and the client's secret in a header`() async throws {
        let server = StubLoader(.json(#"{"access_token": "n", "token_type": "DPoP", "refresh_token": "r2"}"#))
        let storage = OAuth.MemoryStorage(.init(access: "old", refresh: "r1"))
        let api = StubLoader { $0.headers["Authorization"] == "DPoP n" ? .response() : .response(401) }
        let chain = try OAuth(client(secret: "a b:"), storage: storage, hosts: ["example.com"], over: server) --> api
        #expect(try await chain.load(.example).get().status == .ok)
        let header = "Basic " + Data("app:a%20b%3A".utf8).base64EncodedString()
        #expect(server.requests.map { $0.headers["Authorization"] } == [header])
        let stored = await storage.tokens()
        #expect(stored == .init(access: "n", refresh: "r2", type: "DPoP", issued: stored?.issued))
        #expect(!"\(String(describing: stored))".contains("r2"))
    }

    @Test func `without tokens, or if the server refuses, requests fail with the reason`() async throws {
        let refusing = StubLoader(.json(#"{"error": "invalid_grant"}"#, status: 400))
        for (tokens, failure) in [
            (nil, .signedOut), (.init(access: "old"), .signedOut),
            (.init(access: "old", refresh: "r"), .refused(code: "invalid_grant", description: nil)),
        ] as [(OAuth.Tokens?, OAuth.Failure)] {
            let storage = OAuth.MemoryStorage(tokens)
            let chain = try OAuth(client(), storage: storage, hosts: ["example.com"], over: refusing) --> api
            let error = await #expect(throws: HTTPError.self) { try await chain.load(.example).get() }
            #expect(error?.code == .authenticationFailed && error?.underlying as? OAuth.Failure == failure)
        }
    }

    @Test func `a reset signs out, also during a renewal`() async throws {
        let server = StubLoader()
        let storage = OAuth.MemoryStorage(.init(access: "old", refresh: "r", expiry: Self.now))
        let oauth = try OAuth(client(), storage: storage, hosts: ["example.com"], over: server, now: { Self.now })
        let chain = ResetGuard() --> Autocancel() --> oauth --> api
        let task = chain.load(.example)
        try await eventually { server.requests.count == 1 }
        await chain.reset().value
        #expect(task.codeNow == .cancelled && server.tasksInFlight.isEmpty)
        let stored = await storage.tokens()
        #expect(stored == nil && api.requests.isEmpty)
    }

    @Test func `signing in with another device asks until the code is entered`() async throws {
        let device =
            #"{"device_code": "d", "user_code": "WDJB", "verification_uri": "https://auth/go", "expires_in": 60, "interval": 2}"#
        let server = StubLoader(
            expecting: .post("/device", .json(device)),
            .post(
                "/token",
                .json(#"{"error": "authorization_pending"}"#, status: 400),
                .json(#"{"error": "slow_down"}"#, status: 400),
                .response(503),
                .json(#"{"access_token": "new", "token_type": "bearer"}"#)
            )
        )
        let (clock, shown) = (ManualClock(), Journal<String>())
        let oauth = try OAuth(client(), hosts: ["example.com"], over: server, clock: clock, now: { Self.now })
        let signingIn = Task { try await oauth.signIn { shown.add($0.userCode) } }
        for _ in 0..<4 {
            try await clock.waitForSleepers()
            #expect(clock.advanceToNextDeadline())
        }
        try await signingIn.value
        #expect(shown.entries == ["WDJB"] && clock.now.offset == .seconds(2 + 2 + 7 + 14))
        #expect(Self.form(server.requests[0]) == ["client_id": "app", "scope": "a b"])
        #expect(try await (oauth --> api).load(.example).get().status == .ok)
    }

    @Test(arguments: [("120", [120, 120]), ("9223372036854775807", [1 << 30, 1 << 30])])
    func `an interval that is too long is no trap, and a failure makes none shorter`(
        interval: String,
        pauses: [Int]
    ) async throws {
        let device =
            #"{"device_code": "d", "user_code": "W", "verification_uri": "https://auth/go", "expires_in": 1e300"#
        let server = StubLoader(
            expecting: .post("/device", .json(device + #", "interval": \#(interval)}"#)),
            .post("/token", .response(503), .json(#"{"access_token": "new", "expires_in": 1e300}"#))
        )
        let clock = ManualClock()
        let oauth = try OAuth(client(), over: server, clock: clock, now: { Self.now })
        let signingIn = Task { try await oauth.signIn { _ in } }
        var passed = Duration.zero
        for pause in pauses {
            try await clock.waitForSleepers()
            #expect(clock.advanceToNextDeadline())
            passed += .seconds(pause)
            #expect(clock.now.offset == passed)
        }
        try await signingIn.value
    }

    @Test(arguments: [(503, true), (429, true), (500, false)])
    func `a server that fails or is busy refuses nothing, whatever its body says`(
        status: Int,
        isTransient: Bool
    ) async throws {
        let server = StubLoader(.json(#"{"error": "x"}"#, status: HTTPStatus(status)))
        let storage = OAuth.MemoryStorage(.init(access: "old", refresh: "r", expiry: Self.now))
        let oauth = try OAuth(client(), storage: storage, hosts: ["example.com"], over: server, now: { Self.now })
        let error = await #expect(throws: HTTPError.self) { try await (oauth --> api).load(.example).get() }
        #expect(error?.code == .authenticationFailed && error?.isTransient == isTransient)
        #expect((error?.underlying as? HTTPError)?.response?.status == HTTPStatus(status))
    }

    @Test func `a device that is refused, or a code that expires, ends it`() async throws {
        let device =
            #"{"device_code": "d", "user_code": "W", "verification_uri": "https://auth/go", "expires_in": 0, "interval": 0}"#
        for code in ["access_denied", "authorization_pending"] {
            let server = StubLoader(
                expecting: .post("/device", .json(device)),
                .post("/token", .json(#"{"error": "\#(code)"}"#, status: 400))
            )
            let oauth = try OAuth(client(), over: server, now: { Self.now })
            let error = await #expect(throws: OAuth.Failure.self) { try await oauth.signIn { _ in } }
            #expect(error == .refused(code: code, description: nil))
        }
    }

    @Test func `signing in with a browser proves that it is the same client`() async throws {
        let server = StubLoader(.json(#"{"access_token": "new"}"#))
        let redirect = try #require(URL(string: "app://back"))
        let oauth = try OAuth(client(), hosts: ["example.com"], over: server)
        let opened = Journal<HTTPRequest>()
        try await oauth.signIn(redirect: redirect) { url in
            let request = HTTPRequest(url: url)
            opened.add(request)
            let state = request.query.first { $0.name == "state" }?.value ?? ""
            return try #require(URL(string: "app://back?code=c%2F1&state=\(state)"))
        }
        let items = Dictionary(opened.entries[0].query.map { ($0.name, $0.value ?? "") }) { one, _ in one }
        #expect(items["client_id"] == "app" && items["scope"] == "a b" && items["code_challenge_method"] == "S256")
        let form = Self.form(server.requests[0])
        #expect(form["code"] == "c/1" && form["redirect_uri"] == "app://back" && form["code_verifier"]?.count == 43)
        let hash = Data(SHA256.hash(Array((form["code_verifier"] ?? "").utf8))).base64EncodedString()
        let urlHash = hash.replacingOccurrences(of: "+", with: "-").replacingOccurrences(of: "/", with: "_").dropLast()
        #expect(items["code_challenge"] == String(urlHash))
        #expect(try await (oauth --> api).load(.example).get().status == .ok)
        await #expect(throws: OAuth.Failure.wrongState) {
            try await oauth.signIn(redirect: redirect) { _ in redirect }
        }
    }

    @Test func `the hashes of FIPS 180-4`() {
        func hex(_ text: String) -> String {
            SHA256.hash(Array(text.utf8)).map { String($0 >> 4, radix: 16) + String($0 & 15, radix: 16) }.joined()
        }
        #expect(hex("abc") == "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad")
        #expect(hex("") == "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855")
        #expect(
            hex("abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq")
                == "248d6a61d20638b8e5c026930c3e6039a33ce45964ff2167f6ecedd419db06c1"
        )
    }

    @Test func `offline, the tokens of an earlier process select the user's responses, and are not renewed`()
        async throws
    {
        let authority = StubLoader(.failure(.cannotConnect))
        let server = StubLoader { request in
            .response(headers: ["Cache-Control": "max-age=0"], body: request.headers["Authorization"] ?? "")
        }
        let cache = Cache(.memory())
        var signed = HTTPRequest(host: "api", headers: ["Authorization": "Bearer old"])
        #expect(try await (cache --> server).load(signed).get().text == "Bearer old")
        signed.headers = [:]
        signed.cachePolicy = .anyAge
        let storage = OAuth.MemoryStorage(.init(access: "old", refresh: "r1", expiry: Self.now - 20))
        let oauth = try OAuth(client(), storage: storage, hosts: ["api"], over: authority, now: { Self.now })
        #expect(try await (oauth --> cache --> server).load(signed).get().text == "Bearer old")
        let nobody = try OAuth(client(), hosts: ["api"], over: authority, now: { Self.now })
        #expect(try await (nobody --> cache --> server).load(signed).get().status == 504)
        #expect(authority.requests.isEmpty && server.requests.count == 1)
    }

    /// A storage that gives no exclusive access.
    private actor OpenStorage: OAuth.Storage {
        private var current: OAuth.Tokens?
        init(_ tokens: OAuth.Tokens?) { current = tokens }
        func tokens() -> OAuth.Tokens? { current }
        func store(_ tokens: OAuth.Tokens?) { current = tokens }
    }

    @Test(arguments: [true, false])
    func `a renewal leaves the tokens of somebody who has signed in meanwhile, and a sign-out`(
        isSignIn: Bool
    ) async throws {
        let storage = OpenStorage(.init(access: "old", refresh: "r", expiry: Self.now))
        let server = StubLoader()
        let oauth = try OAuth(client(), storage: storage, hosts: ["example.com"], over: server, now: { Self.now })
        let task = (oauth --> api).load(.example)
        try await eventually { server.tasksInFlight.count == 1 }
        await storage.store(isSignIn ? .init(access: "new", refresh: "other") : nil)
        server.tasksInFlight[0].succeed(.ok, body: Data(#"{"access_token": "renewed"}"#.utf8))
        if isSignIn {
            #expect(try await task.get().status == .ok)
        } else {
            let error = await #expect(throws: HTTPError.self) { try await task.get() }
            #expect(error?.underlying as? OAuth.Failure == .signedOut)
        }
        let stored = await storage.tokens()
        #expect(stored?.refresh == (isSignIn ? "other" : nil) && stored?.access == (isSignIn ? "new" : nil))
    }

    @Test func `secrets don't follow a redirect of the token endpoint`() async throws {
        let server = StubLoader { request in
            request.host == "auth" ? .response(308, headers: ["Location": "https://evil.example/token"]) : .json("{}")
        }
        let storage = OAuth.MemoryStorage(.init(access: "old", refresh: "r", expiry: Self.now))
        let oauth = try OAuth(
            client(),
            storage: storage,
            hosts: ["example.com"],
            over: FollowRedirects() --> server,
            now: { Self.now }
        )
        await #expect(throws: HTTPError.self) { try await (oauth --> api).load(.example).get() }
        #expect(server.requests.map(\.host) == ["auth"])
    }
}
