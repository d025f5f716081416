import Foundation
import TestSupport
import Testing

@testable import DeferredNetworking

#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

@Suite(.ownThread, .timeLimit(.minutes(1)))
struct ResourceTimeoutTests {
    @Test(
        arguments: [
            (0, .zero), (1.5, .milliseconds(1_500)), (7 * 24 * 60 * 60, nil), (-1, nil), (.infinity, nil), (.nan, nil),
        ] as [(TimeInterval, Duration?)]
    )
    func `a time-out below the default is one that was chosen`(seconds: TimeInterval, expected: Duration?) {
        let configuration = URLSessionConfiguration.ephemeral
        configuration.timeoutIntervalForResource = seconds
        #expect(ResourceTimeout.chosen(in: configuration) == expected)
    }
}
