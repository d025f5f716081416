import DeferredCore
import TestSupport
import Testing

@Suite(.ownThread, .timeLimit(.minutes(1)))
struct FutureProtocolIgnoredTests {
    @Test func `ignored is filled with the future, before and after, and keeps no value`() {
        let lifetimes = Lifetimes()
        let ignored: Future<Void>
        do {
            let deferred = Deferred<Lifetimes.Token>()
            ignored = deferred.ignored()
            #expect(!ignored.isFilled)
            deferred.fill(with: lifetimes.make())
            #expect(deferred.ignored().isFilled)
        }
        #expect(ignored.isFilled)
        #expect(lifetimes.count == 0)
    }

    @Test func `futures of different types can be waited for together`() {
        let (a, b) = (Deferred<Int>(), Deferred<String>())
        let both = [a.ignored(), b.ignored()].allFilled().ignored()
        a.fill(with: 1)
        #expect(!both.isFilled)
        b.fill(with: "b")
        #expect(both.isFilled)
    }
}
