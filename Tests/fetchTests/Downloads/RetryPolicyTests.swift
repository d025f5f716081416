import TestSupport
import Testing

@testable import fetch

@Suite("Retry policy", .ownThread, .timeLimit(.minutes(1)))
struct RetryPolicyTests {
    @Test("Waits double up to the longest, and end with the last attempt")
    func delays() {
        let policy = RetryPolicy(attempts: 6, firstDelay: .seconds(1), longestDelay: .seconds(5))
        let delays = (1...7).map { policy.delay(afterAttempt: $0) }
        #expect(delays == [.seconds(1), .seconds(2), .seconds(4), .seconds(5), .seconds(5), nil, nil])
    }

    @Test("A single attempt is never repeated")
    func single() {
        let policy = RetryPolicy(attempts: 1, firstDelay: .seconds(1), longestDelay: .seconds(5))
        #expect(policy.delay(afterAttempt: 1) == nil)
    }
}
