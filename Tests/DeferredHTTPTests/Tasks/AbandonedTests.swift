import DeferredCore
import DeferredHTTP
import DeferredTask
import DeferredTesting
import TestSupport
import Testing

/// A loader that releases every task without completing it.
private struct Forgetful: HTTPLoader {
    func load(_ task: HTTPTask) {}
}

@Suite(.ownThread, .timeLimit(.minutes(1)))
struct AbandonedTests {
    private static let links: [any HTTPLink] = [
        ResetGuard(), Autocancel(), Throttle(maximum: 1), Retry(), Deduplicate(), Validate(), Log { _ in },
        ModifyRequest { _ in }, ApplyEnvironment(.init(host: "host")), Deadline(.seconds(60)),
        RateLimit(requestsPerSecond: 1, burst: 2),
        BasicAuthentication(user: "u", password: "p", hosts: ["example.com"]),
        BearerAuthentication(token: "t", hosts: ["example.com"]) { _ in .never },
    ]

    @Test func `a loader that releases its task completes it, even if the caller of load holds it`() {
        #expect(Forgetful().load(.example).codeNow == .abandoned)
        let journal = Journal<HTTPError.Code?>()
        Forgetful().load(.example) { result in
            if case .failure(let error) = result { journal.add(error.code) }
        }
        #expect(journal.entries == [.abandoned])
    }

    @Test func `below every loader`() {
        for link in Self.links {
            let chain = link --> Forgetful()
            let (held, other) = (chain.load(.example), Journal<HTTPResult>())
            chain.load(.example) { other.add($0) }
            #expect(held.codeNow == .abandoned && other.entries.count == 1, "\(type(of: link))")
        }
    }

    @Test func `below an Intercept`() async throws {
        let chain = Intercept { try await $1($0) } --> Forgetful()
        let error = await #expect(throws: HTTPError.self) { try await chain.load(.example).get() }
        #expect(error?.code == .abandoned)
    }

    @Test func `a part that a loader keeps does not retain the task that it released`() throws {
        struct Half: HTTPLink {
            let kept: Journal<HTTPTask?>
            func load(_ task: HTTPTask, next: any HTTPLoader) { kept.add(task.pass(task.request, to: next)) }
        }
        let kept = Journal<HTTPTask?>()
        #expect((Half(kept: kept) --> Forgetful()).load(.example).codeNow == .abandoned)
        #expect(try #require(kept.entries.first ?? nil).codeNow == .abandoned)
    }

    @Test func `a loader that stops on cancellation and releases the task completes it as cancelled`() {
        struct Timed: HTTPLoader {
            let never = Deferred<Void>()
            func load(_ task: HTTPTask) {
                let waiting = never.upon(.immediate) { task.succeed(.ok) }
                task.addCancellationHandler { waiting.cancel() }
            }
        }
        let timed = Timed()
        let task = (Validate() --> timed).load(.example)
        task.cancel()
        #expect(task.codeNow == .cancelled)
    }

    @Test func `an execution completed from above cancels the execution below`() {
        let stub = StubLoader()
        let task = (Retry() --> Validate() --> Deduplicate() --> Throttle(maximum: 1) --> stub).load(.example)
        let below = stub.tasksInFlight[0]
        task.fail(.timedOut)
        #expect(task.codeNow == .timedOut && below.isCancelled && below.codeNow == .cancelled)
        #expect(stub.tasksInFlight.isEmpty)
    }

    @Test func `a waiting request gives up its place when it is completed from above`() {
        let (stub, throttle) = (StubLoader(), Throttle(maximum: 1))
        let chain = throttle --> stub
        let tasks = (0..<3).map { _ in chain.load(.example) }
        tasks[1].fail(.timedOut)
        #expect(throttle.waitingCount == 1)
        stub.tasksInFlight[0].succeed(.ok)
        #expect(stub.requests.count == 2 && stub.tasksInFlight.map(\.id) == [tasks[2].id])
        stub.cancelAll()
    }

    @Test func `a request that waits for a token is released when it is completed from above`() {
        let token = Task<String>.Promise()
        let chain = BearerAuthentication { _ in Task(token) } --> StubLoader()
        weak var kept: HTTPTask?
        do {
            let task = HTTPTask(HTTPRequest(path: "/"))
            kept = task
            chain.load(task)
            task.fail(.timedOut)
        }
        #expect(kept == nil)
        token.succeed(with: "late")
    }

    @Test func `awaiting a request is awaiting a task`() async throws {
        #expect(try await StubLoader(.response(201)).load(.example).get().status == .created)
        #expect(try await StubLoader(.response(201)).load(.example).value.status == .created)
        let failing = StubLoader(.failure(.timedOut))
        let error = await #expect(throws: HTTPError.self) { try await failing.load(.example).get() }
        #expect(error?.code == .timedOut)
        let stub = StubLoader()
        let request = stub.load(.example)
        let (one, two) = (Task { try await request.value }, Task { try await request.get() })
        one.cancel()
        #expect(request.peek() == nil && !request.isCancelled, "value only waits")
        two.cancel()
        _ = await two.result
        #expect(request.codeNow == .cancelled)
        _ = await one.result
    }
}
