import DeferredCache
import DeferredCore
import DeferredHTTP
import DeferredTask
import Dispatch
import Foundation
import TestSupport
import Testing

/// Tests that nothing is kept of a request once it is over, in chains that go on. A new loader is one more line.
@Suite(.ownThread, .timeLimit(.minutes(5)), .enabled(if: !isSanitized))
struct HeapTests {
    private static let chains: [(name: String, chain: any HTTPLoader)] = [
        ("no loader", Terminal()),
        ("ResetGuard", ResetGuard() --> Terminal()),
        ("Autocancel", Autocancel() --> Terminal()),
        ("Throttle", Throttle(maximum: 1) --> Terminal()),
        ("Retry", Retry(onceMore) --> Terminal()),
        ("Deduplicate", Deduplicate() --> Terminal()),
        ("Validate", Validate() --> Terminal()),
        ("Log", Log { _ in } --> Terminal()),
        ("ModifyRequest", ModifyRequest { $0.headers["X-Region"] = "here" } --> Terminal()),
        ("ApplyEnvironment", ApplyEnvironment(.init(host: "host")) --> Terminal()),
        ("Deadline", Deadline(.seconds(3_600)) --> Terminal()),
        ("Deadline that passes", Deadline(.nanoseconds(1)) --> Terminal()),
        ("RateLimit", RateLimit(requestsPerSecond: 1e6, burst: 2) --> Terminal()),
        ("BasicAuthentication", BasicAuthentication(user: "u", password: "p") --> Terminal()),
        ("BearerAuthentication", BearerAuthentication { _ in .success("t") } --> Terminal()),
        ("Intercept", Intercept { try await $1($0) } --> Terminal()),
        ("FollowRedirects", FollowRedirects() --> Terminal()),
        ("Router", Router(.init(Terminal()) { $0.path == "/later" }) --> Terminal()),
        ("Fallback", Fallback(to: Terminal()) --> Terminal()),
        (
            "OAuth",
            OAuth(.init(id: "app", token: URL(filePath: "/")), storage: SignedIn(), over: Terminal()) --> Terminal()
        ),
        ("Cache", ApplyEnvironment(.init(host: "host")) --> Cache(.memory(capacity: 1 << 20)) --> Terminal()),
        (
            "Cache that stores",
            ApplyEnvironment(.init(host: "host")) --> Cache(.memory(capacity: 1 << 20))
                --> Terminal(headers: ["Cache-Control": "max-age=9999"])
        ),
        ("an object", Object() --> Terminal()),
        (
            "all",
            ResetGuard() --> Autocancel() --> Deadline(.seconds(3_600)) --> Log { _ in } --> Deduplicate()
                --> Retry(onceMore) --> RateLimit(requestsPerSecond: 1e6, burst: 2)
                --> BearerAuthentication { _ in .success("t") } --> Validate() --> Object() --> Throttle(maximum: 2)
                --> Intercept { try await $1($0) } --> ModifyRequest { $0.headers["X-Region"] = "here" }
                --> ApplyEnvironment(.init(host: "host")) --> Terminal()
        ),
    ]

    private static let uses: [(name: String, use: @Sendable (any HTTPLoader) async -> Void)] = [
        ("that succeeds", { _ = await $0.load(.ending("/ok")).result }),
        ("that succeeds later", { _ = await $0.load(.ending("/later")).result }),
        ("that fails", { _ = await $0.load(.ending("/failure")).result }),
        ("that is not authorised", { _ = await $0.load(.ending("/unauthorised")).result }),
        ("that its loader releases", { _ = await $0.load(.ending("/released")).result }),
        ("that is cancelled", { await $0.load(.ending("/pending")).end { $0.cancel() } }),
        ("that is completed from above", { await $0.load(.ending("/pending")).end { $0.fail(.timedOut) } }),
        (
            "that is cancelled before it is loaded",
            { chain in
                let task = HTTPTask(.ending("/ok"))
                task.cancel()
                chain.load(task)
                _ = await task.result
            }
        ),
        (
            "with an equal one at the same time",
            { chain in
                let tasks = [chain.load(.ending("/later")), chain.load(.ending("/later"))]
                for task in tasks { _ = await task.result }
            }
        ),
        (
            "with an equal one at the same time, both cancelled",
            { chain in
                let tasks = [chain.load(.ending("/pending")), chain.load(.ending("/pending"))]
                for task in tasks { await task.end { $0.cancel() } }
            }
        ),
        (
            "whose progress is watched",
            { chain in
                let task = chain.load(.ending("/later")).task
                task.uponProgress(on: .immediate) { _ in }
                _ = await task.result
            }
        ),
        (
            "whose awaiting task is cancelled",
            { chain in
                let waiting = _Concurrency.Task { try await chain.load(.ending("/pending")).get() }
                waiting.cancel()
                _ = await waiting.result
            }
        ),
        (
            "during a reset",
            { chain in
                let task = chain.load(.ending("/pending"))
                let reset = chain.reset()
                await task.end { $0.cancel() }
                await reset.value
            }
        ),
        (
            "for a stream",
            { chain in
                guard let stream = try? await chain.load(.stream).get().stream else { return }
                do { for try await _ in stream {} } catch {}
            }
        ),
        ("for a stream that is cancelled", { try? await $0.load(.stream).get().stream?.cancel() }),
        ("for a stream that is dropped", { _ = await $0.load(.stream).result }),
    ]

    private static let onceMore = RetryStrategy.custom { $0.number == 1 && $0.error != nil ? .nanoseconds(1) : nil }

    private static let loads = chains.flatMap { name, chain in
        uses.map { use in MeteredOperation("\(name): a request \(use.name)") { await use.use(chain) } }
    }

    /// A request that outlives those that join it.
    private static let others: [MeteredOperation] = {
        let chain = Deduplicate() --> Terminal()
        let lasting = chain.load(.ending("/pending"))
        return [
            .init("a request that joins one that lasts, and is cancelled") {
                await chain.load(.ending("/pending")).end { $0.cancel() }
                precondition(!lasting.isFilled)
            }
        ]
    }()

    #if os(Linux)
    @Test(arguments: chains.map(\.name))
    func `nothing is left`(in chain: String) async {
        await #expect(processExitsWith: .success, "\(chain)") { [chain] in
            for load in Self.loads where load.name.hasPrefix(chain + ":") {
                try await load.expectNothingLeft(count: 300)
            }
        }
    }

    @Test(arguments: others.map(\.name))
    func `nothing is left after`(name: String) async {
        await #expect(processExitsWith: .success, "\(name)") { [name] in
            try await Self.others.expectNothingLeft(by: name)
        }
    }
    #endif
}

/// A terminal loader that does what the path of the request says.
///
/// Unlike a stub, it keeps no list of requests.
private struct Terminal: HTTPLoader {
    var headers: HTTPHeaders = [:]

    func load(_ task: HTTPTask) {
        if task.failIfCancelled() { return }
        task.report(completed: 1, of: 2)
        switch task.request.path {
        case "/ok": task.succeed(.ok, headers: headers, body: Data("hello".utf8))
        case "/later": DispatchQueue.global().async { task.succeed(.ok) }
        case "/failure": task.fail(.cannotConnect)
        case "/unauthorised": task.succeed(.unauthorized)
        case "/pending": task.addCancellationHandler { task.fail(.cancelled) }
        case "/stream":
            let (bytes, continuation) = AsyncStream<Data>.makeStream()
            continuation.yield(Data("hello".utf8))
            continuation.finish()
            let stream = HTTPBodyStream(bytes)
            task.complete(
                with: .success(HTTPResponse(request: task.request, status: .ok, headers: headers, stream: stream))
            )
        default: break
        }
    }
}

private struct SignedIn: OAuth.Storage {
    func tokens() async throws -> OAuth.Tokens? { .init(access: "t") }
    func store(_ tokens: OAuth.Tokens?) async throws {}
}

private final class Object: HTTPLink {
    func load(_ task: HTTPTask, next: any HTTPLoader) { task.pass(to: next) }
}

extension HTTPRequest {
    /// A request that the terminal loader ends in the way that the path says.
    fileprivate static func ending(_ path: String) -> HTTPRequest { HTTPRequest(path: path) }

    fileprivate static let stream: HTTPRequest = {
        var request = ending("/stream")
        request.delivery = .stream
        return request
    }()
}

extension HTTPTask {
    /// Calls `body` and waits for the end.
    fileprivate func end(_ body: (HTTPTask) -> Void) async {
        body(self)
        _ = await result
    }
}
