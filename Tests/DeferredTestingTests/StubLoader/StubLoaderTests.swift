import DeferredCore
import DeferredHTTP
import DeferredTask
import DeferredTesting
import Foundation
import TestSupport
import Testing

@Suite(.ownThread, .timeLimit(.minutes(1)))
struct StubLoaderTests {
    private let request = HTTPRequest(host: "host", path: "/a")

    private func text(_ task: HTTPTask) -> String {
        switch task.peek() {
        case .success(let response): "\(response.status.code) \(response.text)"
        case .failure(let error): "\(error.code)"
        case nil: "pending"
        }
    }

    @Test func `answers come in order, the last again and again`() {
        let stub = StubLoader(.response(201, body: "a"), .failure(.timedOut), .json("{}"))
        #expect((0..<4).map { _ in text(stub.load(request)) } == ["201 a", "timed out", "200 {}", "200 {}"])
        #expect(stub.requests.map(\.path) == ["/a", "/a", "/a", "/a"] && stub.tasksInFlight.isEmpty)
    }

    @Test func `a closure answers each request`() {
        let stub = StubLoader { .response(body: $0.path) }
        #expect(text(stub.load(request)) == "200 /a")
    }

    @Test func `delays and reports come in the order in which they were added`() async throws {
        let clock = ManualClock()
        let answer = StubLoader.Answer.response().reporting(1, of: 4).delayed(by: .seconds(1)).reporting(2, of: 4)
            .delayed(by: .seconds(1))
        let task = StubLoader(answer, clock: clock).load(request)
        let progress = task.task.progress
        #expect(abs(progress.fractionCompleted - 0.25) < 1e-6)
        try await clock.waitForSleepers()
        clock.advance(by: .seconds(1))
        try await clock.waitForSleepers()
        #expect(abs(progress.fractionCompleted - 0.5) < 1e-6 && text(task) == "pending")
        clock.advance(by: .seconds(1))
        #expect(try await task.value.get().status == .ok)
    }

    @Test func `a cancelled task ends at once, and so does its delay`() async throws {
        let clock = ManualClock()
        let stub = StubLoader(.response().delayed(by: .seconds(1)), clock: clock)
        let task = stub.load(request)
        try await clock.waitForSleepers()
        task.cancel()
        #expect(text(task) == "cancelled" && stub.tasksInFlight.isEmpty)
        try await eventually { clock.sleeperCount == 0 }
    }

    @Test func `an answer can ignore cancellations`() {
        let stub = StubLoader(.pending.ignoringCancellation())
        let task = stub.load(request)
        task.cancel()
        #expect(text(task) == "pending" && stub.tasksInFlight.count == 1)
        stub.tasksInFlight[0].succeed(.ok, body: Data("by hand".utf8))
        #expect(text(task) == "200 by hand")
    }

    @Test func `a task that was cancelled before is not taken in`() {
        let (stub, task) = (StubLoader(.response()), HTTPTask(request))
        task.cancel()
        stub.load(task)
        #expect(text(task) == "cancelled" && stub.requests.isEmpty)
    }

    @Test func `resets are counted`() {
        let stub = StubLoader()
        #expect(stub.reset().isFilled && stub.resetCount == 1)
    }

    @Test func `pending tasks end when the stub goes`() {
        let lifetimes = Lifetimes()
        do {
            let stub = StubLoader()
            stub.load(request).addCompletionHandler { [token = lifetimes.make()] _ in token.touch() }
            #expect(lifetimes.count == 1)
        }
        #expect(lifetimes.count == 0)
    }

    @Test func `expectations answer matching requests, each in order`() {
        let stub = StubLoader(
            expecting: .get("/a", .response(201), .response(202)),
            .post("/a", .response(203)),
            .init("a search", { $0.query.contains { $0.name == "q" } }, .response(204))
        )
        var search = HTTPRequest(host: "host", path: "/b")
        search.addQueryItem(name: "q", value: "x")
        let requests = [request, HTTPRequest(.post, host: "host", path: "/a"), request, search, request]
        #expect(requests.map { text(stub.load($0)) } == ["201 ", "203 ", "202 ", "204 ", "202 "])
        #expect(stub.unexpectedRequests.isEmpty)
    }

    @Test func `a request that nobody expects fails with a message that says so`() throws {
        let stub = StubLoader(expecting: .get("/a", .response()), .init("a search", { _ in false }))
        guard case .failure(let error) = try #require(stub.load(HTTPRequest(.put, host: "host", path: "/b")).peek())
        else {
            Issue.record("it was answered")
            return
        }
        let cause = try #require(error.underlying as? StubLoader.UnexpectedRequest)
        #expect("\(cause)" == "unexpected request PUT https://host/b; expected GET /a, or a search")
        #expect("\(error)" == "PUT https://host/b: failed (\(cause))")
        #expect(error.code == .unknown && stub.unexpectedRequests.count == 1 && stub.requests.count == 1)
    }

    @Test func `answers have bytes, and failures their causes`() throws {
        struct Cause: Error {}
        let data = Data([0, 255])
        #expect(try StubLoader(.response(data: data)).load(request).peek()?.get().body == data)
        guard case .failure(let error) = StubLoader(.failure(.timedOut, underlying: Cause())).load(request).peek()
        else {
            Issue.record("it did not fail")
            return
        }
        #expect(error.underlying is Cause)
    }

    #if os(Linux)
    @Test func `a task costs as much among many in flight as among few`() {
        /// Returns the processor time of this thread in seconds, to which nothing else on the machine adds.
        func processorTime() -> Double {
            var time = timespec()
            clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time)
            return Double(time.tv_sec) + Double(time.tv_nsec) / 1e9
        }
        func cost(of count: Int) -> Double {
            let start = processorTime()
            let stub = StubLoader()
            let tasks = (0..<count).map { _ in stub.load(request) }
            // In neither order may a task be looked for among all others.
            let inFlight = stub.tasksInFlight
            for task in inFlight.prefix(count / 2).reversed() + inFlight.dropFirst(count / 2) { task.succeed(.ok) }
            #expect(tasks.allSatisfy { $0.isFilled } && stub.tasksInFlight.isEmpty)
            return processorTime() - start
        }
        _ = cost(of: 100)
        // What disturbs the caches of a processor makes some rounds dearer, and none cheaper.
        func least(of count: Int) -> Double { (0..<3).map { _ in cost(of: count) }.min() ?? .infinity }
        let growth = least(of: 16_000) / least(of: 500)
        // 32 times as many; if each cost were proportional to their number, it would be some hundred times as much.
        #expect(growth < 100)
    }
    #endif
}
