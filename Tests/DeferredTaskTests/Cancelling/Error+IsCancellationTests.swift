import DeferredTask
import Foundation
import TestSupport
import Testing

#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

@Suite(.ownThread, .timeLimit(.minutes(1)))
struct ErrorIsCancellationTests {
    @Test func `what says that somebody cancelled is a cancellation, and nothing else`() {
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
}
