import DeferredTask
import Foundation
import TestSupport
import Testing

@testable import DeferredNetworking

#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

@Suite("Retries", .ownThread, .timeLimit(.minutes(1)))
struct URLClientRetriesTests {
    private func retries(random: Double) -> URLClient.Retries {
        var retries = URLClient.Retries()
        retries.base = .milliseconds(100)
        retries.cap = .seconds(1)
        retries.random = { random }
        return retries
    }

    @Test(arguments: [(0, 100), (1, 100), (2, 200), (3, 400), (4, 800), (5, 1_000), (6, 1_000), (Int.max, 1_000)])
    func `the longest pause doubles up to the cap`(attempt: Int, milliseconds: Int) {
        #expect(retries(random: 1).policy.pause(after: attempt) == .milliseconds(milliseconds))
        #expect(retries(random: 0.5).policy.pause(after: attempt) == .milliseconds(milliseconds / 2))
        #expect(retries(random: 0).policy.pause(after: attempt) == .zero)
    }

    @Test(arguments: [(-1.0, Duration.zero), (7.0, .milliseconds(100))])
    func `a number out of range counts as the nearest one in it`(random: Double, pause: Duration) {
        #expect(retries(random: random).policy.pause(after: 1) == pause)
    }

    @Test func `a pause that the server asks for is exact, also beyond the cap, and has a limit`() {
        let retries = retries(random: 0)
        for (asked, pause) in [(60, 60), (61, nil), (0, 0), (Int64.max, nil)] as [(Int64, Int64?)] {
            let found = retries.pause(
                after: 1,
                status: .serviceUnavailable,
                error: nil,
                mayRepeat: true,
                retryAfter: .seconds(asked)
            )
            #expect(found == pause.map { .seconds($0) })
        }
    }

    @Test func `no number of attempts traps, and less than one is one`() {
        var retries = URLClient.Retries()
        for attempts in [0, -1, Int.min] {
            retries.attempts = attempts
            #expect(retries.attempts == 1)
        }
        #expect(URLClient.Retries.none.attempts == 1)
    }

    @Test(arguments: [
        ("GET", false, false, true), ("put", false, false, false), ("PROPFIND", false, false, true),
        ("LOCK", false, false, false), ("POST", false, false, false),
        ("POST", true, false, true), ("PATCH", false, false, false), ("GET", false, true, false),
        ("POST", true, true, false), ("OWN", false, false, false),
    ])
    func `a method or a key allows a repetition, unless the body can't be sent again`(
        method: HTTPMethod,
        isKeyed: Bool,
        hasOneShotBody: Bool,
        mayRepeat: Bool
    ) {
        let retries = URLClient.Retries()
        #expect(retries.mayRepeat(method: method, isKeyed: isKeyed, hasOneShotBody: hasOneShotBody) == mayRepeat)
    }

    @Test func `what the server has not processed may be repeated, if its body can be`() {
        let lost = URLError(.networkConnectionLost)
        let refused = URLError(.networkConnectionLost, failing: nil, underlying: FailureCause.notProcessed)
        let wrapped = URLError(.networkConnectionLost, failing: nil, underlying: refused)
        let retries = URLClient.Retries()
        for (error, isRefused) in [(lost, false), (refused, true), (wrapped, true)] {
            for hasOneShotBody in [false, true] {
                let mayRepeat = retries.mayRepeat(
                    method: "POST",
                    isKeyed: false,
                    hasOneShotBody: hasOneShotBody,
                    after: error
                )
                #expect(mayRepeat == (isRefused && !hasOneShotBody))
            }
        }
    }

    @Test func `what the caller adds counts`() {
        var retries = retries(random: 1)
        retries.methods.insert("OWN")
        retries.statuses = [500]
        retries.isRetryable = { $0 is URLClientError }
        #expect(retries.mayRepeat(method: "OWN", isKeyed: false, hasOneShotBody: false))
        func pause(_ status: HTTPStatus?, _ error: (any Error)?) -> Duration? {
            retries.pause(after: 1, status: status, error: error, mayRepeat: true, retryAfter: nil)
        }
        #expect(pause(500, nil) != nil && pause(503, nil) == nil)
        #expect(pause(nil, URLClientError.deadlineExceeded) != nil && pause(nil, URLError(.timedOut)) == nil)
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
            ("Sun, 06 Nov 1994 08:00:00 GMT", .seconds(0)), ("Sun Nov  6 08:49:37 1994", .seconds(0)),
            ("Sun Nov 6 8:49:37 1994", nil),
        ] as [(String, Duration?)]
    )
    func `seconds and dates are understood`(field: String, pause: Duration?) throws {
        #expect(self.pause(["Retry-After": field]) == pause)
    }

    @Test func `a date counts from the server's own clock`() throws {
        let headers = [
            "Retry-After": "Sun, 06 Nov 1994 08:50:37 GMT", "Date": "Sun, 06 Nov 1994 08:50:07 GMT",
        ]
        #expect(pause(headers, now: Date(timeIntervalSince1970: 0)) == .seconds(30))
    }

    @Test func `without the field there is nothing`() {
        #expect(pause([:]) == nil)
    }
}
