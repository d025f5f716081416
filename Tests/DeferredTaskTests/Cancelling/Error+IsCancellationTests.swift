import DeferredTask
import Foundation
import TestSupport
import Testing

#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

@Suite(.ownThread, .timeLimit(.minutes(1)))
struct ErrorIsCancellationTests {
    @Test func `only errors that mean a cancellation are cancellations`() {
        let cancellations: [any Error] = [
            CancellationError(), URLError(.cancelled), CocoaError(.userCancelled),
            NSError(domain: NSURLErrorDomain, code: NSURLErrorCancelled),
        ]
        let others: [any Error] = [
            URLError(.timedOut), CocoaError(.fileNoSuchFile),
            DecodingError.valueNotFound(Int.self, .init(codingPath: [], debugDescription: "")),
            NSError(domain: "mine", code: NSURLErrorCancelled),
        ]
        #expect(cancellations.allSatisfy { $0.isCancellation })
        #expect(!others.contains { $0.isCancellation })
    }

    @Test func `an error of one's own may say so`() async {
        struct SheetDismissed: CancellationIndicating {}
        enum Answer: Error, CancellationIndicating {
            case declined, closed
            var indicatesCancellation: Bool { self == .closed }
        }
        let errors: [any Error] = [SheetDismissed(), Answer.closed, Answer.declined]
        #expect(errors.map(\.isCancellation) == [true, true, false])

        let attempts = Log<Int>()
        let task = Task<Int>.retry(RetryPolicy(attempts: 3, base: .zero)) { attempt in
            attempts.add(attempt)
            return .failure(attempt == 1 ? Answer.declined : SheetDismissed())
        }
        await #expect(throws: SheetDismissed.self) { try await task.value }
        #expect(attempts.entries == [1, 2])
    }
}
