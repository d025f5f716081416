import Deferred
import DeferredTesting
import InMemoryLogging
import InMemoryTracing
import Logging
import MetricsTestKit
import Testing
import Tracing

@testable import Server

@Suite(.timeLimit(.minutes(1)))
struct LinkTests {
    private let request = HTTPRequest(host: "host", path: "/a", query: [.init(name: "token", value: "hush")])

    /// Loads a request whose first attempt fails, with a pause before the second.
    private func load(over link: some HTTPLink, _ stub: StubLoader) async throws {
        let clock = ManualClock()
        let task = (Retry(.backoff(random: { 1 }), clock: clock) --> link --> stub).load(request)
        try await clock.waitForSleepers()
        clock.advance(by: .seconds(60))
        _ = try await task.get()
    }

    @Test func `each attempt is a span, and their parent is the span around the request`() async throws {
        let tracer = InMemoryTracer()
        let stub = StubLoader(.response(503), .response(200))
        let parent = try await tracer.withAnySpan("parent") { span in
            try await load(over: TraceAttempts(tracer: tracer), stub)
            return try #require(span as? InMemorySpan)
        }
        let spans = tracer.finishedSpans.filter { $0.kind == .client }
        #expect(spans.map(\.parentSpanID) == [parent.spanID, parent.spanID])
        #expect(spans.map(\.traceID) == [parent.traceID, parent.traceID])
        #expect(spans.map { $0.attributes.get("http.response.status_code") } == [503, 200])
        #expect(spans.map { $0.status?.code == .error } == [true, false])
        #expect(stub.requests.map { $0.headers[InMemoryTracer.spanIDKey] } == spans.map(\.spanID))
    }

    @Test func `the span of a request that is cancelled ends`() async throws {
        let tracer = InMemoryTracer()
        let chain = TraceAttempts(tracer: tracer) --> StubLoader(.pending)
        let task = chain.load(request)
        #expect(tracer.activeSpans.count == 1)
        task.cancel()
        _ = await task.result
        #expect(tracer.activeSpans.isEmpty)
        #expect(tracer.finishedSpans.map { $0.attributes.get("error.type") } == ["cancelled"])
        // One that is cancelled before has none, or one that has ended.
        let early = HTTPTask(request)
        early.cancel()
        chain.load(early)
        #expect(tracer.activeSpans.isEmpty)
    }

    @Test func `requests are logged and counted, without secrets`() async throws {
        let (log, metrics) = (InMemoryLogHandler(), TestMetrics())
        let logger = Logger(label: "test") { _ in log }
        let observe = ObserveRequests(logger: logger, metrics: metrics)
        try await load(over: observe, StubLoader(.failure(.cannotConnect), .response(200)))

        #expect(log.entries.map(\.level) == [.warning, .info])
        #expect(log.entries.map { $0.metadata["status"] } == ["cannotConnect", "200"])
        #expect(log.entries.allSatisfy { $0.metadata["method"] == "GET" && $0.metadata["host"] == "host" })
        #expect(!log.entries.contains { "\($0)".contains("hush") })
        #expect(log.entries.contains { "\($0.message)".contains("host/a?token=") })

        let labels = [("method", "GET"), ("host", "host"), ("status", "200")]
        #expect(try metrics.expectCounter("http_requests", labels).totalValue == 1)
        #expect(try metrics.expectTimer("http_duration", labels).values.count == 1)
        #expect(metrics.counterTotal(label: "http_requests") == 2)
    }

    @Test func `a request is logged once, with the host that it was sent to`() async throws {
        let log = InMemoryLogHandler()
        let stub = StubLoader(.response(503, headers: ["Retry-After": "0"]), .response(200))
        let server = HTTPEnvironment(host: "api.example")
        let chain = makeChain(to: server, over: stub, Logger(label: "test") { _ in log })
        _ = try await chain.load(HTTPRequest(path: "/a")).get()
        #expect(stub.requests.count == 2)
        #expect(log.entries.map { $0.metadata["host"] } == ["api.example"])
        #expect(log.entries.map { "\($0.message)" } == ["GET https://api.example/a"])
    }
}
