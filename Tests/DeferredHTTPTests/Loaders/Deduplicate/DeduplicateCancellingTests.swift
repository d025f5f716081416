import DeferredCore
import DeferredHTTP
import DeferredTesting
import TestSupport
import Testing

@Suite(.ownThread, .timeLimit(.minutes(1)))
struct DeduplicateCancellingTests {
    @Test func `a response that has arrived counts, although its handlers haven't run`() {
        let stub = StubLoader()
        let chain = Deduplicate() --> stub
        let (one, two) = (chain.load(.example), chain.load(.example))
        // The handler of the first request runs before the second request gets the result.
        one.addCompletionHandler { _ in two.cancel() }
        stub.tasksInFlight[0].succeed(.ok)
        #expect(one.statusNow == .ok && two.statusNow == .ok)
    }

    @Test func `one that is completed from above leaves the others alone, and the last one ends the execution`() {
        let stub = StubLoader()
        let chain = Deduplicate() --> stub
        let (one, two) = (chain.load(.example), chain.load(.example))
        one.fail(.timedOut)
        #expect(stub.tasksInFlight.count == 1 && two.peek() == nil)
        two.fail(.timedOut)
        #expect(stub.tasksInFlight.isEmpty)
    }

    @Test func `a response that a loader further down holds counts for the last request, as in other loaders`() {
        /// Completes its tasks when it is told to.
        struct Holding: HTTPLink {
            let held = Journal<@Sendable () -> Void>()

            func load(_ task: HTTPTask, next: any HTTPLoader) {
                task.pass(task.request, to: next) { result in held.add { task.complete(with: result) } }
            }
        }
        let holding = Holding()
        let chain = Deduplicate() --> holding --> StubLoader(.response())
        let (one, two) = (chain.load(.example), chain.load(.example))
        one.cancel()
        two.cancel()
        #expect(one.codeNow == .cancelled && two.peek() == nil)
        let next = chain.load(.example)
        for complete in holding.held.entries { complete() }
        #expect(two.statusNow == .ok && next.statusNow == .ok && holding.held.entries.count == 2)
    }
}
