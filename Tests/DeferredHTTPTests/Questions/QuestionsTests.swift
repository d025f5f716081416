import DeferredCore
import DeferredHTTP
import DeferredTask
import DeferredTesting
import TestSupport
import Testing

/// The meaning of cancelling and resetting: each question, its answer, and the test that proves it.
///
/// - Cancel before `load`? Completes once, when loaded: `.cancelled`; no further loader sees it. Test:
///   `cancel before load`.
/// - Cancel in a loader, before the terminal one? Completes once, by the loader that holds it: `.cancelled`; the next
///   sees nothing. Test: `cancel in a loader`.
/// - Cancel after the terminal loader began? Completes once: `.cancelled`; the transfer is stopped. Test:
///   `cancel after the terminal loader began`.
/// - Cancel after the response, before the completion handlers? Completes once, with the response. Test:
///   `cancel after the response arrived`.
/// - Cancel after the completion? Nothing happens. Test: `cancel after the completion`.
/// - Cancel twice? Handlers run once; completes once. Test: `cancel twice`.
/// - Cancel inside a completion handler? Nothing happens; the other handlers get the response. Test:
///   `cancel inside a completion handler`.
/// - Cancel while throttled? Completes at once; never loaded; the place in the queue is given up. Test:
///   `cancel while throttled`.
/// - Cancel while waiting to retry? Completes at once; no further attempt; the timer is stopped. Test:
///   `cancel while waiting to retry`.
/// - Cancel while waiting for a token refresh? Completes at once; the refresh goes on, for the others. Test:
///   `cancel while waiting for a token refresh`.
/// - Cancel one of two deduplicated requests? Completes that one; the other goes on; the last cancels the execution.
///   Test: `cancel one of two deduplicated requests`.
/// - A loader completes twice? The first counts. Test: `a loader that completes twice`.
///
/// And in ``ResetQuestionsTests``:
///
/// - Cancel during a reset? Completes once; the reset goes on. Test: `cancel during reset`.
/// - Load during a reset? Fails: `.resetInProgress`; no further loader sees it. Test: `load during reset`.
/// - Reset during a reset? It is the same reset. Test: `reset during reset`.
/// - What does a reset wait for? All requests in flight. Test: `a reset waits for requests in flight`.
/// - A loader never completes, and is reset? Completes with `.cancelled` after the grace; the reset ends. Test:
///   `a loader that never completes and is reset`.
@Suite("Questions", .ownThread, .timeLimit(.minutes(5)))
struct QuestionsTests {
    @Test func `cancel before load`() {
        let stub = StubLoader(.response())
        let (task, direct) = (HTTPTask(.example), HTTPTask(.example))
        let completions = task.completions()
        task.cancel()
        #expect(completions.entries.isEmpty)
        (ResetGuard() --> Autocancel() --> Retry() --> Throttle(maximum: 1) --> stub).load(task)
        #expect(completions.entries.count == 1 && task.codeNow == .cancelled)
        direct.cancel()
        stub.load(direct)
        #expect(direct.codeNow == .cancelled)
        #expect(stub.requests.isEmpty)
    }

    @Test func `cancel before load, for each loader`() {
        let loaders: [any HTTPLink] = [
            ResetGuard(), Autocancel(), Throttle(maximum: 1), Retry(), Deduplicate(), Validate(), Log { _ in },
            ModifyRequest { _ in }, ApplyEnvironment(.init(host: "host")),
            BasicAuthentication(user: "u", password: "p", hosts: ["example.com"]),
            BearerAuthentication(token: "t", hosts: ["example.com"]) { _ in .never },
            BearerAuthentication(hosts: ["example.com"]) { _ in .never },
            Intercept { try await $1($0) }, Deadline(.seconds(1)), RateLimit(requestsPerSecond: 1),
        ]
        for loader in loaders {
            let (stub, task) = (StubLoader(.response()), HTTPTask(.example))
            let completions = task.completions()
            task.cancel()
            let chain = loader --> stub
            chain.load(task)
            #expect(completions.entries.count == 1 && task.codeNow == .cancelled, "\(type(of: loader))")
            #expect(stub.requests.isEmpty, "\(type(of: loader))")
        }
    }

    @Test func `cancel in a loader`() {
        let (stub, throttle) = (StubLoader(), Throttle(maximum: 1))
        let chain = Retry() --> Validate() --> throttle --> stub
        chain.load(.example)
        let held = chain.load(.example)
        let completions = held.completions()
        held.cancel()
        #expect(completions.entries.count == 1 && held.codeNow == .cancelled)
        #expect(stub.requests.count == 1)
        stub.cancelAll()
    }

    @Test func `cancel after the terminal loader began`() async throws {
        let server = try LoopbackServer { _ in [.stall] }
        defer { server.stop() }
        let chain = Retry() --> Throttle(maximum: 1) --> URLSessionLoader.underTest()
        let task = chain.load(HTTPRequest(url: server.url("/")))
        let completions = task.completions()
        try await eventually { server.requestCount == 1 }
        task.cancel()
        #expect(completions.entries.count == 1 && task.codeNow == .cancelled)
        try await eventually { server.openConnectionCount == 0 }
        #expect(completions.entries.count == 1 && server.requestCount == 1)
    }

    @Test func `cancel after the response arrived`() {
        let (executor, journal) = (ManualExecutor(), Journal<HTTPStatus?>())
        let stub = StubLoader()
        let task = (Retry() --> stub).load(.example)
        task.upon(executor) { journal.add(try? $0.get().status) }
        stub.tasksInFlight[0].succeed(.ok)
        task.cancel()
        executor.runAll()
        #expect(journal.entries == [.ok])
        #expect(!task.isCancelled)
    }

    @Test func `cancel after the completion`() {
        let (task, journal) = (StubLoader(.response(204)).load(.example), Journal<String>())
        task.addCancellationHandler { journal.add("cancelled") }
        task.cancel()
        #expect(task.statusNow == .noContent && !task.isCancelled && journal.entries.isEmpty)
    }

    @Test func `cancel twice`() {
        let (stub, journal) = (StubLoader(), Journal<String>())
        let task = stub.load(.example)
        let completions = task.completions()
        task.addCancellationHandler { journal.add("cancelled") }
        task.cancel()
        task.cancel()
        #expect(journal.entries == ["cancelled"] && completions.entries.count == 1)
    }

    @Test func `cancel inside a completion handler`() {
        let (stub, journal) = (StubLoader(), Journal<HTTPStatus?>())
        let task = (Retry() --> Deduplicate() --> stub).load(.example)
        task.addCompletionHandler { [weak task] _ in task?.cancel() }
        task.addCompletionHandler { journal.add(try? $0.get().status) }
        stub.tasksInFlight[0].succeed(.ok)
        #expect(journal.entries == [.ok] && !task.isCancelled)
    }

    @Test func `cancel while throttled`() {
        let (stub, throttle) = (StubLoader(), Throttle(maximum: 1))
        let chain = throttle --> stub
        let tasks = (0..<3).map { _ in chain.load(.example) }
        let completions = tasks[1].completions()
        tasks[1].cancel()
        #expect(completions.entries.count == 1 && tasks[1].codeNow == .cancelled && throttle.waitingCount == 1)
        tasks[0].succeed(.ok)
        #expect(stub.tasksInFlight.map(\.id) == [tasks[2].id])
        #expect(stub.requests.count == 2)
    }

    @Test func `cancel while waiting to retry`() async throws {
        let (stub, clock) = (StubLoader(.response(503)), ManualClock())
        let task = (Retry(clock: clock) --> stub).load(.example)
        let completions = task.completions()
        try await clock.waitForSleepers()
        task.cancel()
        #expect(completions.entries.count == 1 && task.codeNow == .cancelled)
        try await eventually { clock.sleeperCount == 0 }
        clock.advance(by: .seconds(100))
        #expect(stub.requests.count == 1)
    }

    @Test func `cancel while waiting for a token refresh`() {
        let (stub, promise) = (StubLoader(.response()), Task<String>.Promise())
        let refresh = Task<String>(promise)
        let chain = BearerAuthentication(hosts: ["example.com"]) { _ in refresh } --> stub
        let (one, two) = (chain.load(.example), chain.load(.example))
        let completions = one.completions()
        one.cancel()
        #expect(completions.entries.count == 1 && one.codeNow == .cancelled)
        #expect(!refresh.isCancelled && two.peek() == nil && stub.requests.isEmpty)
        promise.succeed(with: "token")
        #expect(two.statusNow == .ok && stub.requests.count == 1)
    }

    @Test func `cancel one of two deduplicated requests`() {
        let stub = StubLoader()
        let chain = Deduplicate() --> stub
        let (one, two) = (chain.load(.example), chain.load(.example))
        one.cancel()
        #expect(one.codeNow == .cancelled && two.peek() == nil)
        #expect(stub.requests.count == 1 && stub.tasksInFlight.count == 1)
        two.cancel()
        #expect(two.codeNow == .cancelled && stub.tasksInFlight.isEmpty)
    }

    @Test func `a loader that completes twice`() {
        struct Twice: HTTPLoader {
            func load(_ task: HTTPTask) {
                task.succeed(.ok)
                task.succeed(.created)
                task.fail(.timedOut)
            }
        }
        let task = HTTPTask(.example)
        let completions = task.completions()
        (Retry() --> Throttle(maximum: 1) --> Twice()).load(task)
        #expect(completions.entries.count == 1 && task.statusNow == .ok)
    }
}
