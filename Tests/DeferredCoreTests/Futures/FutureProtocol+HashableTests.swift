import DeferredCore
import TestSupport
import Testing

@Suite(.ownThread, .timeLimit(.minutes(1)))
struct FutureHashableTests {
    @Test func `copies of a Deferred are equal, whatever it is filled with`() {
        let (one, other) = (Deferred<Int>(), Deferred<Int>())
        let copy = one
        #expect(one == copy && one != other)
        one.fill(with: 1)
        other.fill(with: 1)
        #expect(one == copy && one != other)
        #expect(Set([one, copy, other]).count == 2)
    }

    @Test func `a future equals its copies, and other views of the same value`() {
        let deferred = Deferred<String>()
        let future = deferred.future
        #expect(future == deferred.future && future == Future(deferred))
        #expect(future != future.map { $0 })
        #expect(Future(value: 1) != Future(value: 1))
        #expect(Set([future, Future(deferred), .never]).count == 2)
        #expect([future: 1][deferred.future] == 1)
    }

    @Test func `values need not be comparable`() {
        struct Opaque: Sendable {}
        #expect(Deferred<Opaque>() != Deferred<Opaque>())
    }
}
