import DeferredTask
import DeferredTesting
import TestSupport
import Testing

@testable import DeferredHTTP

@Suite(.ownThread, .timeLimit(.minutes(1)))
struct TokenStoreTests {
    @Test(arguments: [true, false])
    func `the token of an earlier process is read unless the request was cancelled`(isCancelled: Bool) {
        let (reads, found) = (Journal<Int>(), Journal<String?>())
        let stored: @Sendable () -> Task<BearerToken?> = {
            reads.add(1)
            return .success(BearerToken("old"))
        }
        let tokens = TokenStore(nil, stored: stored) { _ in .never }
        let task = HTTPTask(.example)
        if isCancelled { task.cancel() }
        tokens.getNewest(for: task) { found.add($0?.value) }
        #expect(reads.entries.isEmpty == isCancelled && found.entries == [isCancelled ? nil : "old"])
        #expect(task.codeNow == (isCancelled ? .cancelled : nil))
    }
}
