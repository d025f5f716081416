import DeferredCore
import DeferredHTTP
import DeferredTask
import DeferredTesting
import TestSupport
import Testing

/// Every order of the loaders does the same.
@Suite(.ownThread, .timeLimit(.minutes(10)))
struct OrderTests {
    /// The loaders, by the name that a failing order shows.
    private enum Kind: String, CaseIterable {
        case validate, retry, bearer, throttle, deduplicate
        case autocancel, resetGuard, deadline, rateLimit, log, environment, modify, basic

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
            }
        }
    }

    /// Refuses the old token, then is unavailable once, and has nothing at `/missing`.
    private func check(_ kinds: [Kind]) {
        let isBusy = Lock(kinds.contains(.retry))
        let stub = StubLoader { request in
            if kinds.contains(.bearer), request.headers["Authorization"] != "Bearer new" { return .response(401) }
            if isBusy.withLock({ $0.exchange(with: false) }) { return .response(503) }
            return request.path == "/missing" ? .response(404) : .response(200)
        }
        let chain = kinds.reversed().reduce(stub as any HTTPLoader) { next, kind in
            var link = kind.link
            link.next = next
            return link
        }
        let name = kinds.map(\.rawValue).joined(separator: " --> ")
        #expect(chain.load(.example).statusNow == .ok, "\(name)")
        let count = 1 + (kinds.contains(.bearer) ? 1 : 0) + (kinds.contains(.retry) ? 1 : 0)
        #expect(stub.requests.count == count, "\(name)")
        let missing = chain.load(HTTPRequest(host: "example.com", path: "/missing"))
        if kinds.contains(.validate) {
            guard case .failure(let error) = missing.peek() else {
                Issue.record("\(name)")
                return
            }
            #expect(error.code == .unacceptableStatus && error.response?.status == .notFound, "\(name)")
        } else {
            #expect(missing.statusNow == .notFound, "\(name)")
        }
        #expect(stub.requests.count == count + 1 && stub.tasksInFlight.isEmpty, "\(name)")
        #expect(chain.reset().isFilled && stub.resetCount == 1, "\(name)")
    }

    @Test func `each order of those that look at responses`() {
        forEachOrder(of: 5, from: [.validate, .retry, .bearer, .throttle, .deduplicate]) { check($0) }
    }

    /// One in a hundred of them, or one in ten in `.ci/full`.
    @Test func `orders of five of all loaders`() {
        var (number, generator) = (0, SeededGenerator(seed: 29))
        let share = 1_000 / rounds(10)
        forEachOrder(of: 5, from: Kind.allCases) { kinds in
            number += 1
            if Int.random(in: 0..<share, using: &generator) == 0 { check(kinds) }
        }
        #expect(number == 154_440)
    }

    private func forEachOrder(of count: Int, from kinds: [Kind], after first: [Kind] = [], _ body: ([Kind]) -> Void) {
        if first.count == count { return body(first) }
        for kind in kinds {
            forEachOrder(of: count, from: kinds.filter { $0 != kind }, after: first + [kind], body)
        }
    }
}

extension Bool {
    fileprivate mutating func exchange(with value: Bool) -> Bool {
        defer { self = value }
        return self
    }
}
