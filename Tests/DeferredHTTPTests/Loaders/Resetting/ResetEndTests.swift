import DeferredCache
import DeferredCore
import DeferredHTTP
import DeferredTask
import DeferredTesting
import Dispatch
import TestSupport
import Testing

/// What holds when a reset ends.
@Suite(.ownThread, .timeLimit(.minutes(5)))
struct ResetEndTests {
    /// Counts the requests that it was told to cancel.
    private struct Told: HTTPLoader {
        let journal = Journal<Int>()

        func load(_ task: HTTPTask) {
            if task.failIfCancelled() { return }
            task.addCancellationHandler {
                journal.add(1)
                task.fail(.cancelled)
            }
        }
    }

    /// The timer must not come before the cancellations.
    @Test func `however short the grace is, each request is cancelled first`() {
        for grace in [Duration.zero, .seconds(-1), .nanoseconds(1)] {
            let told = Told()
            let chain = Autocancel(grace: grace) --> told
            for _ in 0..<20_000 { chain.load(.example) }
            let reset = chain.reset()
            #expect(settles(within: .seconds(30)) { reset.isFilled })
            #expect(told.journal.entries.count == 20_000, "\(grace)")
        }
    }

    @Test func `requests are complete when a reset ends, whatever comes before the loader that waits for them`() {
        let links: [any HTTPLink] = [
            Log { _ in }, ModifyRequest { $0.headers["A"] = "B" }, Validate(), Deadline(.seconds(60)), Retry(),
        ]
        for link in links {
            let stub = StubLoader(.pending.ignoringCancellation())
            let chain = link --> ResetGuard() --> Autocancel(clock: ManualClock()) --> stub
            let task = chain.load(.example)
            let code = Lock<HTTPError.Code?>(nil)
            chain.reset().upon(.immediate) {
                let now = task.codeNow
                code.withLock { $0 = now }
            }
            // In time, but after `reset` has returned.
            stub.tasksInFlight[0].fail(.cancelled)
            #expect(code.withLock { $0 } == .cancelled, "\(type(of: link))")
        }
    }

    /// A user signs in anew, and out again, while the end of the chain is still being reset.
    @Test func `a token that came during a reset is forgotten by another one`() {
        struct End: HTTPLoader {
            let end: Deferred<Void>
            func load(_ task: HTTPTask) { task.succeed(.ok) }
            func reset() -> Future<Void> { end.future }
        }
        let (count, end) = (Journal<Int>(), Deferred<Void>())
        let bearer = BearerAuthentication(hosts: ["example.com"]) { _ in
            count.add(1)
            return .success("token")
        }
        let (chain, other) = (ResetGuard() --> bearer --> End(end: end), bearer --> StubLoader(.response()))
        _ = chain.reset()
        other.load(.example)
        let signingOut = chain.reset()
        end.fill()
        #expect(signingOut.isFilled)
        other.load(.example)
        #expect(count.entries.count == 2)
    }

    @Test func `chains that share their loaders in different orders end all requests and resets`() {
        for round in 0..<(isSanitized ? 20 : 100) {
            let (guarding, throttle, deduplicate) = (ResetGuard(), Throttle(maximum: 2), Deduplicate())
            let autocancels = (0..<2).map { _ in Autocancel(clock: ManualClock()) }
            let end = Later()
            let route = guarding --> autocancels[0] --> end
            let chains: [HTTPChain] = [
                guarding --> autocancels[0] --> Retry(.never) --> autocancels[1] --> throttle --> deduplicate --> end,
                autocancels[1] --> guarding --> autocancels[0] --> throttle --> deduplicate
                    --> Router(.host("host0", route)) --> end,
            ]
            let (ends, resets) = (Journal<Int>(), Journal<Future<Void>>())
            race(4) { index in
                for number in 0..<60 {
                    let chain = chains[(index + number) % 2]
                    if number % 15 == 7 {
                        resets.add(chain.reset())
                    } else {
                        let request = HTTPRequest(host: "host\(number % 3)", path: "/\(number % 4)")
                        let task = chain.load(request) { _ in ends.add(1) }
                        if number % 9 == 0 { task.cancel() }
                    }
                }
            }
            #expect(settles(within: .seconds(60)) { ends.entries.count == 224 && end.running.withLock { $0 } == 0 })
            #expect(settles(within: .seconds(60)) { resets.entries.allSatisfy(\.isFilled) }, "\(round)")
            #expect(ends.entries.count == 224 && throttle.waitingCount == 0)
        }
    }

    @Test func `a reset ends all that was loaded before it, and starts nothing`() {
        for _ in 0..<(isSanitized ? 20 : 100) {
            let (end, tasks) = (Later(), Journal<HTTPTask>())
            let isOver = Lock(false)
            let autocancel = Autocancel(clock: ManualClock())
            let chain =
                Retry() --> Cache(.memory()) --> Deduplicate() --> Throttle(maximum: 3) --> autocancel --> ResetGuard()
                --> end
            race(3) { index in
                if index == 0 {
                    _ = settles(within: .seconds(60)) { tasks.entries.count >= 8 }
                    isOver.withLock { $0 = true }
                } else {
                    for number in 0..<30 where !isOver.withLock({ $0 }) {
                        tasks.add(chain.load(HTTPRequest(host: "host\(index)", path: "/\(number)")))
                    }
                }
            }
            let reset = chain.reset()
            let pending = Lock(-1)
            reset.upon(.immediate) {
                let count = tasks.entries.count { $0.peek() == nil }
                pending.withLock { $0 = count }
            }
            #expect(settles(within: .seconds(60)) { reset.isFilled && pending.withLock { $0 } == 0 })
            #expect(end.running.withLock { $0 } == 0)
        }
    }

    @Test func `a hundred thousand waiting requests are cancelled by a reset, on a small stack`() async {
        let ended = await onThread(stackSize: 512 << 10) {
            let stub = StubLoader()
            let count = Lock(0)
            let chain = ResetGuard() --> Autocancel(clock: ManualClock()) --> Throttle(maximum: 1) --> stub
            for number in 0..<100_000 {
                chain.load(HTTPRequest(host: "host\(number % 7)")) { _ in count.withLock { $0 += 1 } }
            }
            let isFilled = chain.reset().isFilled
            return isFilled && stub.requests.count == 1 ? count.withLock { $0 } : -1
        }
        #expect(ended == 100_000)
    }
}

/// Answers a moment later on another thread, unless the task is cancelled.
private struct Later: HTTPLoader {
    let running = RunningCount()

    func load(_ task: HTTPTask) {
        if task.failIfCancelled() { return }
        running.withLock { $0 += 1 }
        task.addCompletionHandler { _ in running.withLock { $0 -= 1 } }
        task.addCancellationHandler { [weak task] in task?.fail(.cancelled) }
        DispatchQueue.global().asyncAfter(deadline: .now() + .microseconds(500)) { task.succeed(.ok) }
    }
}

private final class RunningCount: Sendable {
    private let count = Lock(0)

    func withLock<Result: Sendable>(_ body: (inout Int) -> Result) -> Result { count.withLock { body(&$0) } }
}
