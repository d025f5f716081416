import DeferredCore
import DeferredHTTP
import DeferredTesting
import TestSupport
import Testing

/// Tests of the questions about resets. For the list, see ``QuestionsTests``.
@Suite("Questions about resets", .ownThread, .timeLimit(.minutes(5)))
struct ResetQuestionsTests {
    private let stub = StubLoader(.pending.ignoringCancellation())
    private let clock = ManualClock()

    private var chain: HTTPChain { ResetGuard() --> Autocancel(grace: .seconds(5), clock: clock) --> stub }

    @Test func `a reset waits for requests in flight`() {
        let chain = chain
        let tasks = (0..<3).map { _ in chain.load(.example) }
        let reset = chain.reset()
        #expect(tasks.allSatisfy(\.isCancelled) && !reset.isFilled)
        tasks[0].fail(.cancelled)
        tasks[1].fail(.cancelled)
        #expect(!reset.isFilled && stub.resetCount == 0)
        tasks[2].fail(.cancelled)
        #expect(reset.isFilled && stub.resetCount == 1)
    }

    @Test func `cancel during reset`() {
        let chain = chain
        let task = chain.load(.example)
        let completions = task.completions()
        let reset = chain.reset()
        task.cancel()
        #expect(!reset.isFilled && completions.entries.isEmpty)
        task.fail(.cancelled)
        #expect(reset.isFilled && completions.entries.count == 1)
    }

    @Test func `load during reset`() {
        let chain = chain
        let task = chain.load(.example)
        let reset = chain.reset()
        #expect(chain.load(.example).codeNow == .resetInProgress)
        let cancelled = HTTPTask(.example)
        cancelled.cancel()
        chain.load(cancelled)
        #expect(cancelled.codeNow == .cancelled)
        task.fail(.cancelled)
        #expect(reset.isFilled && stub.requests.count == 1)
        #expect(chain.load(.example).peek() == nil && stub.requests.count == 2)
    }

    @Test func `load during reset, without a ResetGuard`() {
        let chain = Autocancel(clock: clock) --> stub
        let task = chain.load(.example)
        let reset = chain.reset()
        #expect(chain.load(.example).codeNow == .cancelled)
        task.fail(.cancelled)
        #expect(reset.isFilled && stub.requests.count == 1)
    }

    @Test func `load when a reset is done`() {
        let (chain, journal) = (chain, Journal<HTTPError.Code?>())
        let task = chain.load(.example)
        chain.reset().upon(.immediate) { journal.add(chain.load(.example).codeNow) }
        task.fail(.cancelled)
        #expect(journal.entries == [nil], "requests are let in again")
    }

    @Test func `reset during reset`() {
        for isGuarded in [true, false] {
            let autocancel = Autocancel(clock: clock) --> StubLoader(.pending.ignoringCancellation())
            let chain: any HTTPLoader = isGuarded ? ResetGuard() --> autocancel : autocancel
            let task = chain.load(.example)
            let resets = (0..<3).map { _ in chain.reset() }
            #expect(resets.allSatisfy { !$0.isFilled })
            task.fail(.cancelled)
            #expect(resets.allSatisfy { $0.isFilled })
        }
    }

    @Test func `reset inside a completion handler`() {
        let chain = chain
        let (task, resets) = (chain.load(.example), Journal<Future<Void>>())
        task.addCompletionHandler { _ in resets.add(chain.reset()) }
        task.succeed(.ok)
        #expect(resets.entries.map(\.isFilled) == [true])
    }

    @Test func `a loader that never completes and is reset`() async throws {
        let chain = chain
        let task = chain.load(.example)
        let completions = task.completions()
        let reset = chain.reset()
        try await clock.waitForSleepers()
        clock.advance(by: .seconds(4))
        #expect(!reset.isFilled && completions.entries.isEmpty)
        clock.advance(by: .seconds(1))
        await reset.value
        // The reset gets the result before handlers that were added later.
        try await eventually { !completions.entries.isEmpty }
        #expect(completions.entries.count == 1 && task.codeNow == .cancelled && stub.resetCount == 1)
    }

    @Test func `requests and resets from many threads end`() {
        for _ in 0..<(isSanitized ? 100 : 500) {
            let chain = ResetGuard() --> Autocancel() --> Retry() --> Throttle(maximum: 2) --> StubLoader()
            let (tasks, resets) = (Journal<HTTPTask>(), Journal<Future<Void>>())
            race(6) { index in
                if index < 2 {
                    resets.add(chain.reset())
                } else {
                    for _ in 0..<3 { tasks.add(chain.load(.example)) }
                }
            }
            #expect(chain.reset().isFilled && resets.entries.allSatisfy(\.isFilled))
            #expect(tasks.entries.allSatisfy { [.cancelled, .resetInProgress].contains($0.codeNow) })
        }
    }
}
