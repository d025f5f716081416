import DeferredCore
import DeferredTask
import DeferredTesting
import TestSupport
import Testing

@testable import DeferredHTTP

/// A reset ends what a chain has begun to get a token.
@Suite(.ownThread, .timeLimit(.minutes(1)))
struct SignOutTests {
    /// A refresh that ends when the test says so, even if it is cancelled.
    private let refreshes = Journal<Task<BearerToken>.Promise>()
    private let cancels = Journal<Int>()

    private func bearer(clock: any Clock<Duration> = ContinuousClock()) -> BearerAuthentication {
        let tokens = TokenStore(nil, clock: clock) { [refreshes, cancels] _ in
            let promise = Task<BearerToken>.Promise()
            refreshes.add(promise)
            return Task(promise, uponCancel: { _ in cancels.add(1) })
        }
        return BearerAuthentication(tokens, hosts: ["example.com"])
    }

    @Test func `a reset cancels the refresh, and waits for its end`() {
        let stub = StubLoader(.response())
        let chain = Autocancel() --> bearer() --> stub
        let task = chain.load(.example)
        let (reset, again) = (chain.reset(), chain.reset())
        #expect(task.codeNow == .cancelled && cancels.entries == [1] && !reset.isFilled)
        refreshes.entries[0].succeed(with: BearerToken("old"))
        #expect(reset.isFilled && again.isFilled && stub.requests.isEmpty)
        let next = chain.load(.example)
        #expect(refreshes.entries.count == 2)
        refreshes.entries[1].succeed(with: BearerToken("new"))
        #expect(next.statusNow == .ok && stub.requests.map { $0.headers["Authorization"] } == ["Bearer new"])
    }

    @Test func `so does the reset of a router and of a fallback, whichever of their chains has begun the refresh`() {
        let stub = StubLoader(.response())
        let chains: [any HTTPLoader] = [
            Router(.host("example.com", bearer() --> stub)) --> stub,
            Router(.host("elsewhere", stub)) --> bearer() --> stub,
            Fallback(to: stub) --> bearer() --> stub,
            Fallback(to: bearer() --> stub) --> StubLoader(.failure(.cannotConnect)),
        ]
        for (index, chain) in chains.enumerated() {
            let task = chain.load(.example)
            let reset = chain.reset()
            #expect(cancels.entries.count == index + 1 && !reset.isFilled)
            refreshes.entries.last?.fail(with: CancellationError())
            #expect(reset.isFilled && task.peek() == nil)
            // Without an Autocancel, the request begins another refresh.
            refreshes.entries.last?.succeed(with: BearerToken("new"))
            #expect(task.statusNow == .ok)
        }
    }

    @Test func `the task that a user's closure returns is waited for, and not one derived from it`() {
        let promise = Task<String>.Promise()
        let chain =
            Autocancel() --> BearerAuthentication(hosts: ["example.com"]) { _ in Task(promise, uponCancel: { _ in }) }
            --> StubLoader(.response())
        let task = chain.load(.example)
        let reset = chain.reset()
        #expect(task.codeNow == .cancelled && !reset.isFilled)
        promise.succeed(with: "old")
        #expect(reset.isFilled)
    }

    @Test func `requests that wait meanwhile are served by another refresh`() {
        let stub = StubLoader(.response())
        let chain = bearer() --> stub
        let early = chain.load(.example)
        let reset = chain.reset()
        let late = chain.load(.example)
        #expect(refreshes.entries.count == 1)
        refreshes.entries[0].fail(with: CancellationError())
        #expect(reset.isFilled && refreshes.entries.count == 2 && early.peek() == nil)
        refreshes.entries[1].succeed(with: BearerToken("new"))
        #expect(early.statusNow == .ok && late.statusNow == .ok)
    }

    @Test func `a refresh that ignores the reset is waited for five seconds`() async throws {
        let clock = ManualClock()
        let chain = bearer(clock: clock) --> StubLoader(.response())
        chain.load(.example).cancel()
        let reset = chain.reset()
        try await clock.waitForSleepers()
        clock.advance(by: .seconds(4))
        #expect(!reset.isFilled)
        clock.advance(by: .seconds(1))
        await reset.value
        let next = chain.load(.example)
        refreshes.entries[0].succeed(with: BearerToken("old"))
        #expect(next.peek() == nil)
        refreshes.entries[1].succeed(with: BearerToken("new"))
        #expect(next.statusNow == .ok)
    }

    @Test func `a refresh that fails may sign out, and waits for that`() async throws {
        struct Revoked: Error {}
        let own = ChainReference()
        defer { own.chain = nil }
        let stub = StubLoader(.response())
        let made =
            ResetGuard() --> Autocancel()
            --> BearerAuthentication(hosts: ["example.com"]) { _ in
                Task {
                    await own.chain?.reset().value
                    throw Revoked()
                }
            } --> stub
        own.chain = made
        let loading = made.load(.example)
        guard case .failure(let error) = await loading.result else { return }
        #expect(error.code == .cancelled && stub.requests.isEmpty)
    }

    @Test func `a retry tries again what failed for want of a connection, or of a server, when a token was fetched`() {
        for failure in [HTTPError.Code.connectionLost, .timedOut, .cannotConnect, .cancelled, .unknown] {
            let count = Journal<Int>()
            let chain =
                Retry(.backoff(random: { 0 }))
                --> BearerAuthentication(hosts: ["example.com"]) { _ in
                    count.add(1)
                    return count.entries.count < 3
                        ? .failure(HTTPError(failure, request: .example)) : .success("new")
                } --> StubLoader(.response())
            let isTransient = ![.cancelled, .unknown].contains(failure)
            #expect(chain.load(.example).statusNow == (isTransient ? .ok : nil), "\(failure)")
            #expect(count.entries.count == (isTransient ? 3 : 1), "\(failure)")
        }
        for (status, isWorthIt) in [(503, true), (400, false)] as [(HTTPStatus, Bool)] {
            let server = Validate() --> StubLoader(.response(status), .response(body: "new"))
            let chain =
                Retry(.backoff(random: { 0 }))
                --> BearerAuthentication(hosts: ["example.com"]) { _ in server.load(.example).task.map(\.text) }
                --> StubLoader(.response())
            let task = chain.load(.example)
            #expect(isWorthIt ? task.statusNow == .ok : task.codeNow == .authenticationFailed, "\(status)")
        }
    }
}
