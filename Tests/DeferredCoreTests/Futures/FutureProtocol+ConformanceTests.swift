import DeferredCore
import TestSupport
import Testing

@Suite(.timeLimit(.minutes(1)))
struct FutureProtocolConformanceTests {
    /// Implements only what the protocol asks for.
    private struct Custom: FutureProtocol {
        let base: Deferred<Int>

        func upon(_ executor: some Executor, execute body: @escaping @Sendable (Int) -> Void) -> Registration {
            base.upon(executor, execute: body)
        }

        func peek() -> Int? { base.peek() }
    }

    @Test func `a type of one's own gets every operator`() async throws {
        let base = Deferred<Int>()
        let custom = Custom(base: base)
        let mapped = custom.map { $0 + 1 }
        let chained = custom.flatMap { Custom(base: Deferred(filledWith: $0 + 2)) }
        let erased = Future(custom)
        async let value = custom.value
        async let got = custom.get()
        #expect(!custom.isFilled)
        base.fill(with: 1)
        #expect(custom.isFilled)
        #expect(mapped.peek() == 2)
        #expect(chained.peek() == 3)
        #expect(erased.peek() == 1)
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
