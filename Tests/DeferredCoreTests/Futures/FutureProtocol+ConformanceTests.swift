import DeferredCore
import TestSupport
import Testing

@Suite(.ownThread, .timeLimit(.minutes(1)))
struct FutureProtocolConformanceTests {
    @Test func `a type of one's own gets every operator`() async throws {
        let base = Deferred<Int>()
        let custom = CustomFuture(base)
        let mapped = custom.map { $0 + 1 }
        let chained = custom.flatMap { CustomFuture(Deferred(filledWith: $0 + 2)) }
        let erased = Future(custom)
        let pair = zip(custom, custom)
        let all = [custom, custom].allFilled()
        let first = [CustomFuture(), custom].firstFilled()
        let ignored = custom.ignored()
        let delayed = custom.delay(for: .zero)
        async let value = custom.value
        async let got = custom.get()
        #expect(!custom.isFilled)
        base.fill(with: 1)
        #expect(custom.isFilled)
        #expect(mapped.peek() == 2)
        #expect(chained.peek() == 3)
        #expect(erased.peek() == 1)
        #expect(pair.peek()! == (1, 1))
        #expect(all.peek() == [1, 1])
        #expect(first.peek() == 1)
        #expect(ignored.isFilled)
        #expect(await delayed.value == 1)
        #expect(await value == 1)
        #expect(try await got == 1)
        #expect(Future(custom).peek() == 1)
    }

    @Test func `views of a future share it`() {
        let deferred = Deferred<Int>()
        let views = [deferred.future, deferred.future.future, Future(deferred), Future(deferred.future)]
        deferred.fill(with: 1)
        #expect(views.allSatisfy { $0.peek() == 1 })
    }
}
