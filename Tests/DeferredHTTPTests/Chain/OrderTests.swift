import DeferredCache
import DeferredCore
import DeferredHTTP
import DeferredTask
import DeferredTesting
import Foundation
import TestSupport
import Testing

/// Every order of the loaders does the same.
@Suite(.ownThread, .timeLimit(.minutes(10)))
struct OrderTests {
    /// The loaders, by the name that a failing order shows.
    private enum Kind: String, CaseIterable {
        case validate, retry, bearer, throttle, deduplicate
        case autocancel, resetGuard, deadline, rateLimit, log, environment, modify, basic
        case cache, followRedirects, oauth, router, fallback, intercept

        var link: any HTTPLink {
            switch self {
            case .validate: Validate()
            case .retry: Retry(.backoff(random: { 0 }))
            case .bearer: BearerAuthentication(token: "old", hosts: ["example.com"]) { _ in .success("new") }
            case .throttle: Throttle(maximum: 1)
            case .deduplicate: Deduplicate()
            case .autocancel: Autocancel()
            case .resetGuard: ResetGuard()
            case .deadline: Deadline(.seconds(1_000))
            case .rateLimit: RateLimit(requestsPerSecond: 1e9, burst: 100)
            case .log: DeferredHTTP.Log { _ in }
            case .environment: ApplyEnvironment(HTTPEnvironment(host: "other"))
            case .modify: ModifyRequest { $0.headers["X-One"] = "1" }
            case .basic: BasicAuthentication(user: "a", password: "b", hosts: ["other"])
            case .cache: Cache(.memory())
            case .followRedirects: FollowRedirects()
            case .oauth:
                OAuth(
                    OAuth.Client(id: "app", token: URL(filePath: "/token")),
                    storage: OAuth.MemoryStorage(.init(access: "old", refresh: "r")),
                    hosts: ["oauth"],
                    over: StubLoader(.json(#"{"access_token": "new"}"#))
                )
            case .router: Router(.host("routed", StubLoader(.response(201))))
            case .fallback: Fallback(to: StubLoader(.response(202)))
            case .intercept: Intercept { try await $1($0) }
            }
        }
    }

    private func chain(_ kinds: [Kind], _ end: any HTTPLoader) -> any HTTPLoader {
        kinds.reversed().reduce(end) { attached($1.link, $0) }
    }

    private func attached(_ link: any HTTPLink, _ next: any HTTPLoader) -> any HTTPLoader {
        link --> next
    }

    private func name(_ kinds: [Kind]) -> String { kinds.map(\.rawValue).joined(separator: " --> ") }

    private func status(_ request: HTTPRequest, _ chain: any HTTPLoader) async -> HTTPStatus? {
        try? await chain.load(request).value.status
    }

    /// Refuses old tokens, and is unavailable once.
    private func server(for kinds: [Kind]) -> StubLoader {
        let isBusy = Lock(kinds.contains(.retry))
        return StubLoader { request in
            let isRefused = request.headers["Authorization"] != "Bearer new"
            if isRefused, kinds.contains(request.host == "oauth" ? .oauth : .bearer) { return .response(401) }
            if isBusy.withLock({ $0.exchange(with: false) }) { return .response(503) }
            switch request.path {
            case "/missing": return .response(404)
            case "/moved": return .response(302, headers: ["Location": "/"])
            case "/fresh": return .response(200, headers: ["Cache-Control": "max-age=60"])
            case "/down": return .failure(.cannotConnect)
            default: return .response(200)
            }
        }
    }

    private func check(_ kinds: [Kind]) async throws {
        let (stub, name) = (server(for: kinds), name(kinds))
        let chain = chain(kinds, stub)
        #expect(await status(.example, chain) == .ok, "\(name)")
        let count = 1 + (kinds.contains(.bearer) ? 1 : 0) + (kinds.contains(.retry) ? 1 : 0)
        #expect(stub.requests.count == count, "\(name)")
        switch await chain.load(HTTPRequest(host: "example.com", path: "/missing")).result {
        case .success(let response):
            #expect(response.status == .notFound && !kinds.contains(.validate), "\(name)")
        case .failure(let error):
            #expect(error.code == .unacceptableStatus && error.response?.status == .notFound, "\(name)")
            #expect(kinds.contains(.validate), "\(name)")
        }
        #expect(stub.requests.count == count + 1, "\(name)")
        await checkSpecialities(of: kinds, chain, stub)
        // The response may be there before the loaders on the way back have returned.
        try await eventually { stub.tasksInFlight.isEmpty }
        await chain.reset().value
        #expect(stub.resetCount == 1, "\(name)")
    }

    /// Checks what only some loaders do.
    private func checkSpecialities(of kinds: [Kind], _ chain: any HTTPLoader, _ stub: StubLoader) async {
        let name = name(kinds)
        if kinds.contains(.followRedirects) {
            #expect(await status(HTTPRequest(host: "example.com", path: "/moved"), chain) == .ok, "\(name)")
        }
        if kinds.contains(.oauth) { #expect(await status(HTTPRequest(host: "oauth"), chain) == .ok, "\(name)") }
        if kinds.contains(.router) { #expect(await status(HTTPRequest(host: "routed"), chain) == 201, "\(name)") }
        if kinds.contains(.fallback) {
            #expect(await status(HTTPRequest(host: "example.com", path: "/down"), chain) == 202, "\(name)")
        }
        // Of several loaders that have a credential for the environment's server, the first one gives it.
        if kinds.contains(.environment), Set(kinds).intersection([.bearer, .basic, .oauth]).count < 2 {
            let path = kinds.contains(.followRedirects) ? "/moved" : "/"
            #expect(await status(HTTPRequest(path: path), chain) == .ok, "\(name)")
            #expect(stub.requests.last?.host == "other", "\(name)")
        }
        if let cache = kinds.firstIndex(of: .cache) {
            let count = stub.requests.count
            let request = HTTPRequest(host: "example.com", path: "/fresh")
            for _ in 0..<2 { #expect(await status(request, chain) == .ok, "\(name)") }
            // What a loader after the cache gets with a credential is not stored.
            let isStored = kinds.firstIndex(of: .bearer).map { $0 < cache } ?? true
            #expect(stub.requests.count == count + (isStored ? 1 : 2), "\(name)")
        }
    }

    @Test func `each order of those that look at responses`() async throws {
        for kinds in orders(of: 5, from: [.validate, .retry, .bearer, .throttle, .deduplicate]) {
            try await check(kinds)
        }
    }

    /// More of them in `.ci/full`.
    @Test func `orders of five and of all loaders`() async throws {
        var generator = SeededGenerator(seed: 29)
        for number in 0..<150 * rounds(10) {
            let kinds = Kind.allCases.shuffled(using: &generator)
            try await check(number % 10 == 0 ? kinds : Array(kinds.prefix(5)))
        }
    }

    // MARK: - Resets

    @Test func `a reset cancels what is in flight and what waits, wherever the loader for that stands`() async throws {
        let others = Kind.allCases.filter { $0 != .autocancel }
        var generator = SeededGenerator(seed: 30)
        let longer = (0..<200).map { number in
            Array(Kind.allCases.shuffled(using: &generator).prefix(number % 10 == 0 ? 19 : 5))
        }
        let pairs = others.flatMap { [[.autocancel, $0], [$0, .autocancel]] }
        for kinds in pairs + longer where kinds.contains(.autocancel) {
            let (stub, name) = (StubLoader(), name(kinds))
            let chain = chain(kinds, stub)
            // Two that a loader may merge, and one that may have to wait for them.
            let tasks = ["/0", "/0", "/1"].map { chain.load(HTTPRequest(host: "example.com", path: $0)) }
            try await eventually { !stub.tasksInFlight.isEmpty }
            await chain.reset().value
            // Loaders before the first that has part in the reset may complete a moment later.
            for task in tasks { _ = await task.result }
            // A request that an `Intercept` holds may reach a `ResetGuard` after it when the reset has just begun.
            var expected: Set<HTTPError.Code?> = [.cancelled]
            if kinds.contains(.resetGuard) { expected.insert(.resetInProgress) }
            let codes = tasks.map(\.codeNow)
            #expect(expected.isSuperset(of: codes), "\(codes): \(name)")
            #expect(stub.tasksInFlight.isEmpty, "\(name)")
            let next = chain.load(HTTPRequest(host: "example.com", path: "/2"))
            try await eventually { !stub.tasksInFlight.isEmpty }
            #expect(stub.requests.last?.path == "/2", "\(name)")
            stub.tasksInFlight[0].succeed(.ok)
            #expect(try await next.value.status == .ok, "\(name)")
        }
    }

    @Test(arguments: [true, false])
    func `a reset ends the pauses of retries`(isFirst: Bool) {
        let (stub, clock) = (StubLoader(.response(503)), ManualClock())
        let retry = Retry(.custom { _ in .seconds(1) }, clock: clock)
        let chain: any HTTPLoader = isFirst ? Autocancel() --> retry --> stub : retry --> Autocancel() --> stub
        let task = chain.load(.example)
        #expect(chain.reset().isFilled && task.codeNow == .cancelled)
        clock.advance(by: .seconds(2))
        #expect(stub.requests.count == 1)
    }

    @Test(arguments: [true, false])
    func `a reset ends the wait for a rate`(isFirst: Bool) {
        let (stub, rate) = (StubLoader(.response()), RateLimit(requestsPerSecond: 0, burst: 1))
        let chain: any HTTPLoader = isFirst ? Autocancel() --> rate --> stub : rate --> Autocancel() --> stub
        let tasks = (0..<3).map { _ in chain.load(.example) }
        #expect(chain.reset().isFilled && tasks.map(\.codeNow) == [nil, .cancelled, .cancelled])
        #expect(rate.waitingCount == 0 && stub.requests.count == 1)
    }

    @Test(arguments: [true, false])
    func `a reset starts no other refresh for those that wait for one`(isFirst: Bool) {
        let (stub, refreshes) = (StubLoader(.response()), Journal<String?>())
        let bearer = BearerAuthentication { refused in
            refreshes.add(refused)
            return Task(.never)
        }
        let chain: any HTTPLoader = isFirst ? Autocancel() --> bearer --> stub : bearer --> Autocancel() --> stub
        let tasks = (0..<3).map { _ in chain.load(HTTPRequest(path: "/")) }
        _ = chain.reset().wait()
        #expect(tasks.allSatisfy { $0.codeNow == .cancelled } && refreshes.entries == [nil] && stub.requests.isEmpty)
    }

    @Test func `a stream out of a cache is ended by a reset`() async throws {
        for isFirst in [true, false] {
            let cache = Cache(.memory())
            let stub = StubLoader(.response(headers: ["Cache-Control": "max-age=60"], body: "12345"))
            let chain: any HTTPLoader = isFirst ? Autocancel() --> cache --> stub : cache --> Autocancel() --> stub
            _ = try await chain.load(.example).get()
            var request = HTTPRequest.example
            request.delivery = .stream
            let response = try await chain.load(request).get()
            #expect(response.source != .network && stub.requests.count == 1)
            await chain.reset().value
            await #expect(throws: (any Error).self) { try await response.stream?.collect() }
        }
    }

    @Test func `a request that arrives during a reset is told so, wherever the loader for that stands`() async throws {
        for other in Kind.allCases where ![.autocancel, .resetGuard].contains(other) {
            for kinds in orders(of: 3, from: [other, .autocancel, .resetGuard]) {
                let (stub, name) = (StubLoader(.pending.ignoringCancellation()), name(kinds))
                let chain = chain(kinds, stub)
                let task = chain.load(.example)
                try await eventually { stub.tasksInFlight.count == 1 }
                let reset = chain.reset()
                #expect(!reset.isFilled, "\(name)")
                let late = chain.load(HTTPRequest(host: "example.com", path: "/late"))
                _ = await late.result
                #expect(late.codeNow == .resetInProgress, "\(name)")
                stub.tasksInFlight[0].fail(.cancelled)
                await reset.value
                #expect(task.codeNow == .cancelled && stub.requests.count == 1 && stub.resetCount == 1, "\(name)")
                chain.load(.example)
                try await eventually { stub.requests.count == 2 && stub.tasksInFlight.count == 1 }
                stub.tasksInFlight[0].fail(.cancelled)
            }
        }
    }

    @Test func `a loader in a route resets only what takes the route`() {
        let (route, stub) = (StubLoader(), StubLoader())
        let chain = Throttle(maximum: 8) --> Router(.host("a", Autocancel() --> route)) --> stub
        let tasks = ["a", "b"].map { chain.load(HTTPRequest(host: $0)) }
        #expect(chain.reset().isFilled && tasks.map(\.codeNow) == [.cancelled, nil])
        stub.cancelAll()
    }

    private func orders(of count: Int, from kinds: [Kind]) -> [[Kind]] {
        if count == 0 { return [[]] }
        return kinds.flatMap { kind in orders(of: count - 1, from: kinds.filter { $0 != kind }).map { [kind] + $0 } }
    }
}

extension Bool {
    fileprivate mutating func exchange(with value: Bool) -> Bool {
        defer { self = value }
        return self
    }
}
