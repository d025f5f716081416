import Foundation
import TestSupport
import Testing

@testable import DeferredNetworking

#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

@Suite("Retry policy", .ownThread, .timeLimit(.minutes(1)))
struct RetryPolicyTests {
    private func policy(random: Double) -> URLClient.RetryPolicy {
        var policy = URLClient.RetryPolicy()
        policy.base = .milliseconds(100)
        policy.cap = .seconds(1)
        policy.random = { random }
        return policy
    }

    @Test(arguments: [(0, 100), (1, 100), (2, 200), (3, 400), (4, 800), (5, 1_000), (6, 1_000), (Int.max, 1_000)])
    func `the longest pause doubles up to the cap`(attempt: Int, milliseconds: Int) {
        #expect(policy(random: 1).pause(after: attempt) == .milliseconds(milliseconds))
        #expect(policy(random: 0.5).pause(after: attempt) == .milliseconds(milliseconds / 2))
        #expect(policy(random: 0).pause(after: attempt) == .zero)
    }

    @Test(arguments: [(-1.0, Duration.zero), (7.0, .milliseconds(100))])
    func `a number out of range counts as the nearest one in it`(random: Double, pause: Duration) {
        #expect(policy(random: random).pause(after: 1) == pause)
    }

    @Test func `a pause that the server asks for is exact, also beyond the cap, and has a limit`() {
        let policy = policy(random: 0)
        #expect(policy.pause(after: 1, retryAfter: .seconds(60)) == .seconds(60))
        #expect(policy.pause(after: 1, retryAfter: .seconds(61)) == nil)
        #expect(policy.pause(after: 1, retryAfter: .zero) == .zero)
    }

    @Test func `no pause is longer than a clock can hold`() {
        var policy = URLClient.RetryPolicy()
        policy.base = .seconds(Int64.max)
        policy.cap = .seconds(Int64.max)
        policy.longestRetryAfter = .seconds(Int64.max)
        policy.random = { 1 }
        let century = Duration.seconds(1 << 32)
        #expect(policy.pause(after: 1) == century)
        #expect(policy.pause(after: 100) == century)
        #expect(policy.pause(after: 1, retryAfter: .seconds(Int64.max)) == century)
    }
}

@Suite("Retry-After", .ownThread, .timeLimit(.minutes(1)))
struct RetryAfterTests {
    private func pause(_ headers: [String: String], now: Date = Date(timeIntervalSince1970: 784_111_777)) -> Duration? {
        RetryAfter.pause(asked: .made(503, headers), now: now)
    }

    @Test(
        arguments: [
            ("0", Duration.seconds(0)), ("120", .seconds(120)), (" 5 ", .seconds(5)), ("-1", nil), ("1.5", nil),
            ("", nil),
            ("soon", nil), ("9223372036854775807", .seconds(1 << 32)), ("99999999999999999999", .seconds(1 << 32)),
            // 784111777 seconds after the epoch.
            ("Sun, 06 Nov 1994 08:49:37 GMT", .seconds(0)), ("Sun, 06 Nov 1994 08:50:37 GMT", .seconds(60)),
            ("Sun, 06 Nov 1994 08:00:00 GMT", .seconds(0)), ("Sun Nov  6 08:49:37 1994", nil),
        ] as [(String, Duration?)]
    )
    func `seconds and dates are understood`(field: String, pause: Duration?) throws {
        #expect(self.pause(["Retry-After": field]) == pause)
    }

    @Test func `a date counts from the server's own clock`() throws {
        let headers = [
            "Retry-After": "Sun, 06 Nov 1994 08:50:37 GMT", "Date": "Sun, 06 Nov 1994 08:50:07 GMT",
        ]
        #expect(try pause(headers, now: Date(timeIntervalSince1970: 0)) == .seconds(30))
    }

    @Test func `without the field there is nothing`() throws {
        #expect(try pause([:]) == nil)
    }
}
