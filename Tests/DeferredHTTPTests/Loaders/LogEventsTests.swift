import DeferredCore
import DeferredHTTP
import DeferredNetworking
import DeferredTesting
import Foundation
import TestSupport
import Testing

@Suite(.ownThread, .timeLimit(.minutes(1)))
struct LogEventsTests {
    private let events = Journal<DeferredHTTP.Log.Event>()

    private var log: DeferredHTTP.Log { .events(clock: ManualClock()) { [events] in events.add($0) } }

    private var kinds: [String] {
        events.entries.map { event in
            switch event.kind {
            case .began: "began"
            case .attempt(let number): "attempt \(number)"
            case .cached(let age, let isConfirmed): "cached \(age) \(isConfirmed)"
            case .response(let status): "response \(status.code)"
            case .ended(.success(let response), let count): "ended \(response.status.code), \(count) bytes"
            case .ended(.failure(let error), _): "ended: \(error.code)"
            }
        }
    }

    @Test func `a log before a retry reports all attempts`() {
        let stub = StubLoader(.response(503), .failure(.timedOut), .response(200, body: "12345"))
        let chain = log --> Validate() --> Retry(.custom { $0.number < 3 ? .zero : nil }) --> stub
        let task = chain.load(.example)
        #expect(
            kinds == [
                "began", "attempt 1", "response 503", "attempt 2", "attempt 3", "response 200", "ended 200, 5 bytes",
            ]
        )
        #expect(Set(events.entries.map(\.id)) == [task.id] && events.entries[0].request.id == HTTPRequest.example.id)
        #expect("\(events.entries[3])" == "GET https://example.com/: attempt 2, 0.0 seconds")
    }

    @Test func `a log behind a retry reports each attempt from start to end`() {
        let chain =
            Retry(.custom { $0.number < 2 ? .zero : nil }) --> log --> StubLoader(.failure(.timedOut), .response(204))
        chain.load(.example)
        #expect(kinds == ["began", "ended: timed out", "began", "response 204", "ended 204, 0 bytes"])
    }

    private enum TokenOption: HTTPRequestOption {
        static let defaultValue: Lifetimes.Token? = nil
    }

    /// Unlike a stub, keeps no requests.
    private struct Busy: HTTPLoader {
        func load(_ task: HTTPTask) { task.succeed(503) }
    }

    @Test func `a log behind a retry keeps nothing of earlier attempts`() {
        let (lifetimes, counts) = (Lifetimes(), Journal<Int>())
        let retry = Retry(
            .custom { attempt in
                counts.add(lifetimes.count)
                return attempt.number < 1_000 ? .zero : nil
            }
        )
        let modify = ModifyRequest { $0[TokenOption.self] = lifetimes.make() }
        let silent = DeferredHTTP.Log.events(clock: ManualClock()) { _ in }
        #expect((retry --> modify --> silent --> Busy()).load(.example).statusNow == 503)
        // Attempts that are answered at once nest a little.
        #expect(counts.entries.count == 1_000 && counts.entries.allSatisfy { $0 < 500 })
    }

    @Test func `all logs of a chain, and all attempts, have the identifier of the caller's task`() {
        let chain =
            log --> Retry(.custom { $0.number < 3 ? .zero : nil }) --> ModifyRequest { $0.headers["X-A"] = "1" } --> log
            --> StubLoader(.response(503))
        let task = chain.load(.example)
        #expect(events.entries.count > 9 && Set(events.entries.map(\.id)) == [task.id])
    }

    @Test func `the events of the client below have it, too`() async throws {
        let (server, seen) = (
            try LoopbackServer { .response($0.path == "/busy" ? 503 : 204) }, Journal<URLClient.Event>()
        )
        defer { server.stop() }
        var configuration = URLClient.Configuration()
        configuration.monitor = { seen.add($0) }
        let client = URLClient(configuration: configuration)
        let chain =
            log --> Deduplicate() --> Retry(.custom { $0.response?.status == 503 && $0.number < 2 ? .zero : nil })
            --> log
            --> URLSessionLoader(client: client)
        let tasks = ["/", "/busy"].map { chain.load(HTTPRequest(url: server.url($0))) }
        for task in tasks { _ = await task.result }
        _ = try await client.begin(server.url("/")).get()
        await client.shutdown().value
        for (task, count) in zip(tasks, [1, 2]) {
            let own = seen.entries.filter { $0.task == task.id }
            #expect(Set(own.map(\.request)).count == count)
        }
        #expect(Set(seen.entries.map(\.task)) == Set([nil] + tasks.map(\.id)))
        #expect(Set(events.entries.map(\.id)) == Set(tasks.map(\.id)))
    }

    @Test func `times are measured`() {
        let (clock, stub) = (ManualClock(), StubLoader())
        (DeferredHTTP.Log.events(clock: clock) { [events] in events.add($0) } --> stub).load(.example)
        clock.advance(by: .seconds(2))
        stub.tasksInFlight[0].succeed(.ok)
        #expect(events.entries.map(\.elapsed) == [.zero, .seconds(2), .seconds(2)])
    }

    @Test func `a stream ends when it has been read`() async throws {
        var request = HTTPRequest.example
        request.delivery = .stream
        let response = try await (log --> StubLoader(.response(body: "12345"))).load(request).get()
        #expect(kinds == ["began", "response 200"])
        #expect(try await response.stream?.collect() == Data("12345".utf8))
        #expect(kinds.suffix(1) == ["ended 200, 5 bytes"])
    }

    @Test func `a stream that nobody reads ends when it goes`() async throws {
        var request = HTTPRequest.example
        request.delivery = .stream
        do { _ = try await (log --> StubLoader(.response(body: "12345"))).load(request).get() }
        #expect(kinds.suffix(1) == ["ended: cancelled"])
    }
}
