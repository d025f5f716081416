import DeferredCore
import DeferredHTTP
import DeferredTesting
import TestSupport
import Testing

@Suite(.ownThread, .timeLimit(.minutes(5)))
struct ResettingLifetimeTests {
    @Test func `after the end, and after a reset, nothing is kept`() {
        let lifetimes = Lifetimes()
        let chain = ResetGuard() --> Autocancel() --> StubLoader()
        weak var kept: HTTPTask?
        do {
            let task = chain.load(.example)
            kept = task
            task.addCompletionHandler { [token = lifetimes.make()] _ in token.touch() }
            task.addCancellationHandler { [token = lifetimes.make()] in token.touch() }
            chain.reset().upon(.immediate) { [token = lifetimes.make()] _ in token.touch() }
            #expect(task.codeNow == .cancelled)
        }
        #expect(kept == nil && lifetimes.count == 0)
    }

    @Test func `a task that its loader releases is not kept in flight`() {
        struct Forgetful: HTTPLoader {
            func load(_ task: HTTPTask) {}
        }
        let chain = ResetGuard() --> Autocancel() --> Forgetful()
        var task: HTTPTask? = chain.load(.example)
        let completions = task?.completions()
        task = nil
        #expect(completions?.entries.count == 1)
        #expect(chain.reset().isFilled)
    }
}
