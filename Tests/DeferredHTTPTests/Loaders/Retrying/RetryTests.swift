import DeferredCore
import DeferredHTTP
import DeferredTesting
import TestSupport
import Testing

@Suite(.ownThread, .timeLimit(.minutes(5)))
struct RetryTests {
    private let clock = ManualClock()

    /// Returns a loader whose pauses are not shortened at random: 1, 2, 4 … seconds.
    private func retry(attempts: Int = 3) -> Retry {
        Retry(.backoff(attempts: attempts, base: .seconds(1), random: { 1 }), clock: clock)
    }

    @Test func `it tries again after each pause, until one succeeds`() async throws {
        let stub = StubLoader(.failure(.cannotConnect), .response(503), .response(200))
        let task = (retry() --> stub).load(.example)
        for (pause, count) in [(1, 1), (2, 2)] {
            try await clock.waitForSleepers()
            #expect(stub.requests.count == count && clock.nextDeadline == clock.now.advanced(by: .seconds(pause)))
            clock.advance(by: .seconds(pause))
            try await eventually { stub.requests.count == count + 1 }
        }
        #expect(try await task.value.get().status == .ok)
        #expect(Set(stub.requests.map(\.id)) == [HTTPRequest.example.id])
    }

    @Test func `the last attempt is the result`() async throws {
        let stub = StubLoader(.failure(.timedOut), .response(502))
        let task = (retry(attempts: 2) --> stub).load(.example)
        try await clock.waitForSleepers()
        clock.advance(by: .seconds(1))
        #expect(try await task.value.get().status == 502)
        #expect(stub.requests.count == 2)
    }

    @Test(arguments: [
        StubLoader.Answer.response(200), .response(404), .response(401), .response(500), .failure(.insecureConnection),
        .failure(.invalidRequest), .failure(.bodyAlreadySent), .failure(.cancelled), .failure(.abandoned),
        .failure(.resetInProgress),
    ])
    func `a failure that would repeat is not retried`(answer: StubLoader.Answer) {
        let stub = StubLoader(answer)
        #expect((retry() --> stub).load(.example).isFilled)
        #expect(stub.requests.count == 1 && clock.sleeperCount == 0)
    }

    @Test func `a request that was cancelled is not retried, whatever the strategy says`() {
        let stub = StubLoader(.failure(.cancelled), .response(200))
        #expect((Retry(.custom { _ in .zero }) --> stub).load(.example).codeNow == .cancelled)
        #expect(stub.requests.count == 1)
    }

    @Test func `a request that may not be sent twice is not retried, unless it has a key`() async throws {
        var request = HTTPRequest(.post, host: "host")
        let stub = StubLoader(.response(503))
        #expect((retry() --> stub).load(request).statusNow == 503)
        request.headers["Idempotency-Key"] = "1"
        let task = (retry() --> stub).load(request)
        try await clock.waitForSleepers()
        #expect(task.peek() == nil)
        task.cancel()
    }

    @Test func `a read by POST may say that it is repeatable, and the strategy may name methods`() throws {
        var search = HTTPRequest(.post, host: "host", path: "/_search")
        for (strategy, method, isRepeatable, count) in [
            (.backoff(base: .zero), .post, true, 3), (.backoff(base: .zero, methods: [.post]), .post, false, 3),
            (.backoff(base: .zero, methods: [.post]), .get, false, 1),
        ] as [(RetryStrategy, HTTPMethod, Bool, Int)] {
            let stub = StubLoader(.response(503))
            (search.method, search.isRepeatable) = (method, isRepeatable)
            #expect((Retry(strategy) --> stub).load(search).statusNow == 503)
            #expect(stub.requests.count == count && stub.requests.allSatisfy { $0.headers.isEmpty })
        }
    }

    @Test(
        arguments: [
            (["Retry-After": "7"], 7), (["Retry-After": "0"], 0),
            (["Retry-After": "Sun, 06 Nov 1994 08:49:47 GMT", "Date": "Sun, 06 Nov 1994 08:49:37 GMT"], 10),
        ] as [(HTTPHeaders, Int)]
    )
    func `the server's Retry-After is kept to, in seconds and as a date`(headers: HTTPHeaders, seconds: Int)
        async throws
    {
        let stub = StubLoader(.response(429, headers: headers), .response(200), clock: clock)
        let task = (retry() --> stub).load(.example)
        if seconds > 0 {
            try await clock.waitForSleepers()
            #expect(clock.nextDeadline == .init(offset: .seconds(seconds)))
            clock.advance(by: .seconds(seconds))
        }
        #expect(try await task.value.get().status == .ok)
    }

    @Test func `a server that asks for too long a pause has the last word`() {
        let stub = StubLoader(.response(503, headers: ["Retry-After": "61"]))
        #expect((retry() --> stub).load(.example).statusNow == 503)
    }

    @Test func `a request can have its own strategy`() async throws {
        var request = HTTPRequest(.post, host: "host")
        let numbers = Journal<Int>()
        request.retryStrategy = .custom { attempt in
            numbers.add(attempt.number)
            return attempt.response?.status == .conflict ? .seconds(5) : nil
        }
        let stub = StubLoader(.response(409), .response(201))
        let task = (retry() --> stub).load(request)
        try await clock.waitForSleepers()
        clock.advance(by: .seconds(5))
        #expect(try await task.value.get().status == .created)
        #expect(numbers.entries == [1, 2])
        request.retryStrategy = .never
        #expect((retry() --> StubLoader(.failure(.timedOut))).load(request).codeNow == .timedOut)
    }

    @Test func `a task that is cancelled in an attempt is not tried again`() {
        let stub = StubLoader(.pending.ignoringCancellation())
        let task = (retry() --> stub).load(.example)
        task.cancel()
        stub.tasksInFlight[0].fail(.timedOut)
        #expect(task.codeNow == .timedOut && stub.requests.count == 1)
    }

    @Test func `after the end nothing is kept`() async throws {
        let lifetimes = Lifetimes()
        weak var kept: HTTPTask?
        do {
            let task = (retry() --> StubLoader(.response(503), .response(200))).load(.example)
            kept = task
            task.addCompletionHandler { [token = lifetimes.make()] _ in token.touch() }
            try await clock.waitForSleepers()
            clock.advance(by: .seconds(1))
            _ = await task.result
        }
        try await eventually { kept == nil && lifetimes.count == 0 }
    }

    @Test func `cancelling as the pause ends comes to one end`() async throws {
        for _ in 0..<(isSanitized ? 100 : 500) {
            let (clock, stub) = (ManualClock(), StubLoader(.response(503), .response(200)))
            let task = (Retry(.backoff(base: .seconds(1), random: { 1 }), clock: clock) --> stub).load(.example)
            let completions = task.completions()
            try await clock.waitForSleepers()
            race(2) { if $0 == 0 { task.cancel() } else { clock.advance(by: .seconds(1)) } }
            // The result is there before the handlers have run.
            try await eventually { !completions.entries.isEmpty }
            #expect(completions.entries.count == 1)
            #expect(task.codeNow == .cancelled || stub.requests.count == 2)
        }
    }

    @Test(arguments: ["99999999999999999999", "9223372036854775807", "120"])
    func `a Retry-After beyond the limit, or beyond any number, ends the attempts`(seconds: String) {
        let stub = StubLoader(.response(503, headers: ["Retry-After": seconds]))
        let task = (retry() --> stub).load(.example)
        #expect(task.statusNow == .serviceUnavailable && stub.requests.count == 1)
    }
}
