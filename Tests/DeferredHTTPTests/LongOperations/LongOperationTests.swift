import DeferredCache
import DeferredCore
import DeferredNetworking
import DeferredTask
import DeferredTesting
import Foundation
import TestSupport
import Testing

@testable import DeferredHTTP

#if os(macOS) || os(Linux)
@Suite("Long operations", .ownThread, .timeLimit(.minutes(2)))
struct LongOperationTests {
    /// Answers at once, and remembers nothing.
    private final class Answer: HTTPLoader {
        private let status: HTTPStatus

        init(_ status: HTTPStatus = .ok) { self.status = status }

        func load(_ task: HTTPTask) { task.succeed(status) }
    }

    /// A sequence of so many pieces of nine bytes.
    private struct Pieces: AsyncSequence, AsyncIteratorProtocol, Sendable {
        var rest: Int
        var note: @Sendable () -> Void = {}

        func makeAsyncIterator() -> Self { self }

        mutating func next() async -> Data? {
            guard rest > 0 else { return nil }
            rest -= 1
            note()
            return Data("data: a\n\n".utf8)
        }
    }

    /// Loads requests one after the other through one loader.
    private static func loads(_ name: String, _ makeLoader: @escaping @Sendable () -> any HTTPLoader) -> LongOperation {
        LongOperation(name) { events in
            let loader = makeLoader()
            await onThread(stackSize: 512 << 10) {
                for _ in 0..<events.count {
                    loader.load(.example)
                    events.note()
                }
            }
        }
    }

    /// Loads requests that wait for the first one, and then completes them: two operations.
    private static func queue(
        _ name: String,
        _ loader: @escaping @Sendable (StubLoader) -> any HTTPLoader
    ) -> [LongOperation] {
        [true, false].map { isLoading in
            LongOperation("\(isLoading ? "loading" : "completing") \(name)", count: 10_000, bytesKept: .max / 2) {
                events in
                let stub = StubLoader()
                let chain = loader(stub)
                let tasks = (0..<events.count).map { _ in
                    let task = chain.load(.example)
                    if isLoading { events.note() }
                    return task
                }
                guard !isLoading else { return }
                for task in tasks { task.addCompletionHandler { _ in events.note() } }
                while let task = stub.tasksInFlight.first { task.succeed(.ok) }
            }
        }
    }

    private static let operations: [LongOperation] = [
        LongOperation("retry") { events in
            let strategy = RetryStrategy.custom { attempt in
                events.note()
                return attempt.number < events.count ? .zero : nil
            }
            let chain = Retry(strategy) --> Throttle(maximum: 2) --> Answer(.serviceUnavailable)
            let response = try await chain.load(.example).get()
            #expect(response.status == .serviceUnavailable)
        },
        loads("throttle") { Throttle(maximum: 1) --> Answer() },
        loads("rate limit") { RateLimit(requestsPerSecond: 1e9, burst: .max) --> Answer() },
        loads("autocancel") { Autocancel() --> Answer() },
        loads("deduplicate") { Deduplicate() --> Answer() },
        LongOperation("rate limit with a queue", count: 20_000, bytesKept: .max / 2) { events in
            let chain = RateLimit(requestsPerSecond: 1e9, clock: ImpatientClock()) --> Answer()
            let tasks = (0..<events.count).map { _ in chain.load(.example) }
            for task in tasks { task.addCompletionHandler { _ in events.note() } }
            for task in tasks { _ = try await task.get() }
        },
        LongOperation("body stream") { events in
            for try await _ in HTTPBodyStream(Pieces(rest: events.count)) { events.note() }
        },
        LongOperation("pieces") { events in
            await onThread(stackSize: 512 << 10) {
                let stream = PieceStream((0..<events.count).map { _ in .data(Data([1])) })
                var byte: UInt8 = 0
                stream.open()
                while stream.read(&byte, maxLength: 1) > 0 { events.note() }
            }
        },
        LongOperation("body from a sequence") { events in
            let server = try LoopbackServer { _ in .response() }
            defer { server.stop() }
            var request = HTTPRequest(.post, url: server.url("/"))
            request.body = .stream { Pieces(rest: events.count) { events.note() } }
            let response = try await URLSessionLoader.underTest().load(request).get()
            #expect(response.status == .ok)
        },
    ]

    private static let queues =
        queue("a queue of requests") { Throttle(maximum: 1) --> $0 }
        + queue("equal requests") { Deduplicate() --> $0 }
        // Those whose response is not stored are all sent at once then.
        + queue("equal requests in a cache") { Cache(.memory()) --> $0 }.prefix(1)

    private static let all = operations + queues

    @Test(arguments: all.map(\.name))
    func `its last events cost no more than its first ones`(name: String) async {
        await #expect(processExitsWith: .success) { [name] in
            try await Self.all.expectSteadyCost(of: name)
        }
    }
}
#endif
