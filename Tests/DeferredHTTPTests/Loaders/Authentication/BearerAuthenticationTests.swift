import DeferredCache
import DeferredCore
import DeferredHTTP
import DeferredTask
import DeferredTesting
import TestSupport
import Testing

@Suite(.ownThread, .timeLimit(.minutes(5)))
struct BearerAuthenticationTests {
    private enum Failure: Error { case refused }

    /// Accepts only the token `new`.
    private let stub = StubLoader { request in
        request.headers["Authorization"] == "Bearer new" ? .response(200) : .response(401)
    }

    @Test func `many refused requests share one refresh`() {
        let (stub, promise, refused) = (StubLoader(), Task<String>.Promise(), Journal<String?>())
        let chain =
            BearerAuthentication(token: "old", hosts: ["example.com"]) { old in
                refused.add(old)
                return Task(promise)
            } --> stub
        let tasks = (0..<10).map { _ in chain.load(.example) }
        for task in stub.tasksInFlight { task.succeed(.unauthorized) }
        let late = chain.load(.example)
        #expect(refused.entries == ["old"] && stub.tasksInFlight.isEmpty && tasks.allSatisfy { $0.peek() == nil })
        promise.succeed(with: "new")
        #expect(stub.tasksInFlight.count == 11)
        #expect(
            stub.requests.map { $0.headers["Authorization"] }
                == Array(repeating: "Bearer old", count: 10) + Array(repeating: "Bearer new", count: 11)
        )
        for task in stub.tasksInFlight { task.succeed(.ok) }
        #expect((tasks + [late]).allSatisfy { $0.statusNow == .ok } && refused.entries.count == 1)
    }

    @Test func `a request that was refused late uses the token that is there by then`() {
        let (stub, refreshes) = (StubLoader(), Journal<String?>())
        let chain =
            BearerAuthentication(token: "old", hosts: ["example.com"]) { old in
                refreshes.add(old)
                return .success("new")
            } --> stub
        chain.load(.example)
        chain.load(.example)
        stub.tasksInFlight[0].succeed(.unauthorized)
        stub.tasksInFlight[0].succeed(.unauthorized)
        #expect(stub.requests.suffix(2).map { $0.headers["Authorization"] } == ["Bearer new", "Bearer new"])
        #expect(refreshes.entries == ["old"])
    }

    @Test func `without a token the first request fetches one`() {
        let chain =
            BearerAuthentication(hosts: ["example.com"]) { old in .success(old == nil ? "new" : "wrong") } --> stub
        #expect(chain.load(.example).statusNow == .ok)
        #expect(stub.requests.count == 1)
    }

    @Test func `a fresh token that is refused ends with the response`() {
        let refreshes = Journal<String?>()
        let chain =
            BearerAuthentication(token: "old", hosts: ["example.com"]) { old in
                refreshes.add(old)
                return .success("wrong \(refreshes.entries.count)")
            } --> stub
        #expect(chain.load(.example).statusNow == .unauthorized)
        #expect(stub.requests.count == 2 && refreshes.entries.count == 1)
    }

    @Test func `a failed refresh fails all that wait, and the next request begins another`() throws {
        let results = Journal<Task<String>.Promise>()
        let chain =
            BearerAuthentication(token: "old", hosts: ["example.com"]) { _ in
                let promise = Task<String>.Promise()
                results.add(promise)
                return Task(promise)
            } --> stub
        let tasks = (0..<3).map { _ in chain.load(.example) }
        results.entries[0].fail(with: Failure.refused)
        for task in tasks {
            guard case .failure(let error) = try #require(task.peek()) else { continue }
            #expect(error.code == .authenticationFailed && error.underlying is Failure)
        }
        let next = chain.load(.example)
        #expect(results.entries.count == 2)
        results.entries[1].succeed(with: "new")
        #expect(next.statusNow == .ok)
    }

    @Test func `a request with a credential, or that wants none, is left alone`() {
        let chain = BearerAuthentication(hosts: ["example.com"]) { _ in .never } --> stub
        var (own, none) = (HTTPRequest.example, HTTPRequest.example)
        own.headers["Authorization"] = "Bearer new"
        none.isAuthenticated = false
        #expect(chain.load(own).statusNow == .ok)
        #expect(chain.load(none).statusNow == .unauthorized)
    }

    @Test func `a refresh may use the same chain`() {
        let own = ChainReference()
        defer { own.chain = nil }
        let loader = StubLoader { request in
            request.path == "/token"
                ? .response(body: "new")
                : request.headers["Authorization"] == "Bearer new" ? .response() : .response(401)
        }
        let made =
            Throttle(maximum: 2)
            --> BearerAuthentication(hosts: ["example.com"]) { _ in
                var request = HTTPRequest(host: "example.com", path: "/token")
                request.isAuthenticated = false
                return own.chain?.load(request).task.map(\.text) ?? .never
            } --> loader
        own.chain = made
        #expect(made.load(.example).statusNow == .ok)
    }

    /// - Parameter isUsed: True if a request was sent before.
    @Test(arguments: [true, false])
    func `a reset forgets the token`(isUsed: Bool) {
        let refreshes = Journal<String?>()
        let chain =
            BearerAuthentication(token: "new", hosts: ["example.com"]) { old in
                refreshes.add(old)
                return .success("new")
            } --> stub
        if isUsed { #expect(chain.load(.example).statusNow == .ok && refreshes.entries.isEmpty) }
        #expect(chain.reset().isFilled)
        #expect(chain.load(.example).statusNow == .ok && refreshes.entries == [nil])
    }

    @Test func `a request that comes during a reset fetches no token`() {
        let (stub, refreshes) = (StubLoader(.pending.ignoringCancellation()), Journal<String?>())
        let bearer = BearerAuthentication(hosts: ["example.com"]) { old in
            refreshes.add(old)
            return .success("new")
        }
        let chain = bearer --> ResetGuard() --> Autocancel() --> stub
        var own = HTTPRequest.example
        own.headers["Authorization"] = "Bearer own"
        let first = chain.load(own)
        let (reset, late) = (chain.reset(), chain.load(.example))
        #expect(!reset.isFilled && late.codeNow == .resetInProgress && refreshes.entries.isEmpty)
        first.fail(.cancelled)
        #expect(reset.isFilled)
    }

    @Test func `after the end nothing is kept`() {
        let lifetimes = Lifetimes()
        weak var kept: HTTPTask?
        do {
            let chain =
                BearerAuthentication(token: "old", hosts: ["example.com"]) { [token = lifetimes.make()] _ in
                    token.touch()
                    return .success("new")
                } --> stub
            let task = chain.load(.example)
            kept = task
            task.addCompletionHandler { [token = lifetimes.make()] _ in token.touch() }
            #expect(task.statusNow == .ok)
        }
        #expect(kept == nil && lifetimes.count == 0)
    }

    @Test func `requests, refusals and cancellations from many threads end once each`() {
        for _ in 0..<(isSanitized ? 50 : 300) {
            let tasks = Journal<HTTPTask>()
            let chain = BearerAuthentication(token: "old", hosts: ["example.com"]) { _ in Task { "new" } } --> stub
            race(6) { index in
                for _ in 0..<5 {
                    let task = chain.load(.example)
                    tasks.add(task)
                    if index < 2 { task.cancel() }
                }
            }
            for task in tasks.entries {
                _ = task.wait()
                #expect(task.statusNow == .ok || task.codeNow == .cancelled)
            }
        }
    }

    @Test func `a request that only a cache may answer waits for no token, and fetches none`() throws {
        let server = StubLoader { request in
            .response(headers: ["Cache-Control": "max-age=0"], body: request.headers["Authorization"] ?? "")
        }
        let promise = Task<String>.Promise()
        let refreshes = Journal<String?>()
        let bearer = BearerAuthentication(hosts: ["example.com"]) { old in
            refreshes.add(old)
            return refreshes.entries.count == 1 ? .success("a") : Task(promise)
        }
        let chain = bearer --> Cache(.memory()) --> server
        // There has been no token yet.
        #expect(chain.load(.cacheable().with(.anyAge)).statusNow == 504 && refreshes.entries.isEmpty)
        #expect(chain.load(.cacheable()).textNow == "Bearer a")
        #expect(chain.load(.cacheable().with(.anyAge)).textNow == "Bearer a")
        var request = HTTPRequest.cacheable()
        request.headers["Cache-Control"] = "only-if-cached, max-stale"
        #expect(chain.load(request).textNow == "Bearer a")
        // Signed out, and while the next user signs in, nobody gets it.
        #expect(chain.reset().isFilled)
        let next = bearer --> Cache(.memory()) --> server
        let waiting = next.load(.cacheable())
        #expect(next.load(.cacheable().with(.anyAge)).statusNow == 504 && waiting.peek() == nil)
        #expect(refreshes.entries == [nil, nil])
        promise.succeed(with: "b")
        #expect(waiting.textNow == "Bearer b" && next.load(.cacheable().with(.anyAge)).textNow == "Bearer b")
    }

    @Test func `users that share a cache get their own responses offline, also while a token is being renewed`() {
        let server = StubLoader { request in
            request.headers["Authorization"] == "Bearer old" && request.path == "/refused"
                ? .response(401)
                : .response(headers: ["Cache-Control": "max-age=0"], body: request.headers["Authorization"] ?? "")
        }
        let (cache, renewal) = (Cache(.memory()), Task<String>.Promise())
        let chains = ["old", "other"].map { token in
            BearerAuthentication(token: token, hosts: ["example.com"]) { _ in Task(renewal) } --> cache --> server
        }
        for chain in chains { chain.load(.cacheable()) }
        let refused = chains[0].load(.cacheable(.get, "/refused"))
        #expect(refused.peek() == nil)
        for (chain, token) in zip(chains, ["old", "other"]) {
            #expect(chain.load(.cacheable().with(.anyAge)).textNow == "Bearer \(token)")
        }
        refused.cancel()
        renewal.succeed(with: "new")
    }

    @Test func `without a cache, such a request is refused and sent again like any other`() {
        let chain = BearerAuthentication(hosts: ["example.com"]) { _ in .success("new") } --> stub
        var request = HTTPRequest.example
        request.cachePolicy = .onlyCached
        #expect(chain.load(request).statusNow == .ok && stub.requests.count == 2)
    }
}
