import DeferredCore
import DeferredTesting
import Foundation
import TestSupport
import Testing

@testable import DeferredNetworking

#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

@Suite("Deadlines of an attempt", .ownThread, .timeLimit(.minutes(1)))
struct AttemptDeadlinesTests {
    private let clock = ManualClock()

    private func deadlines(
        _ deadlines: URLClient.Deadlines,
        _ change: (inout URLRequest) -> Void = { _ in }
    ) throws -> AttemptDeadlines {
        let request = URLRequest(try #require(URL(string: "http://host/")), change)
        return AttemptDeadlines(deadlines, .checked(request), clock: clock)
    }

    @Test func `no silence counts while the platform waits for a network, and it counts again after that`() async throws
    {
        let deadlines = try deadlines(.init(idle: .milliseconds(10)))
        let expired = Deferred<Void>()
        deadlines.begin { _ in expired.fill() }
        deadlines.noteWaiting()
        clock.advance(by: .seconds(1))
        // The timer has come, and is set again.
        try await eventually { clock.nextDeadline == .init(offset: .milliseconds(1_010)) }
        #expect(!expired.isFilled)
        deadlines.noteActivity()
        clock.advance(by: .milliseconds(10))
        await expired.value
        deadlines.end()
    }

    @Test func `silence counts from the last activity`() async throws {
        let deadlines = try deadlines(.init(idle: .seconds(1)))
        let expired = Deferred<Void>()
        deadlines.begin { _ in expired.fill() }
        for _ in 0..<10 {
            clock.advance(by: .milliseconds(900))
            deadlines.noteActivity()
        }
        // Activity moves no timer: one that was set meanwhile comes before the end, and is set again.
        clock.advance(by: .milliseconds(999))
        try await eventually { clock.nextDeadline == .init(offset: .seconds(10)) }
        #expect(!expired.isFilled)
        clock.advance(by: .milliseconds(1))
        await expired.value
        deadlines.end()
    }

    @Test func `bytes that are no event postpone the end, as the system tells their time`() async throws {
        let request = URLRequest(url: try #require(URL(string: "http://host/")))
        let deadlines = AttemptDeadlines(.init(idle: .milliseconds(50)), .checked(request))
        let (answers, expired) = (Log<Void>(), Deferred<Void>())
        deadlines.begin(
            silence: {
                answers.add(())
                return answers.entries.count < 4 ? .zero : nil
            },
            { _ in expired.fill() }
        )
        await expired.value
        // Once more when the engine has read what has come.
        #expect(answers.entries.count == 5)
        deadlines.end()
    }

    @Test func `a head that is late ends an attempt, and what comes after the head does not`() async throws {
        let limits = URLClient.Deadlines(idle: .seconds(60), connectToHead: .milliseconds(1_500))
        let (first, second, late) = (try deadlines(limits), try deadlines(limits), Deferred<Void>())
        first.begin { _ in late.fill() }
        second.begin { _ in Issue.record("the head was there") }
        second.noteHead()
        clock.advance(by: .milliseconds(1_500))
        await late.value
        first.end()
        try await eventually { clock.nextDeadline == .init(offset: .seconds(60)) }
        second.end()
    }

    @Test func `a time-out of half a second is no other one`() async throws {
        let deadlines = try deadlines(.init()) { $0.timeoutInterval = 0.5 }
        let expired = Deferred<Void>()
        deadlines.begin { _ in expired.fill() }
        try await eventually { clock.nextDeadline == .init(offset: .milliseconds(500)) }
        clock.advance(by: .milliseconds(500))
        await expired.value
        deadlines.end()
    }
}

/// An attempt whose engine has read all that has come.
private final class Attempt: AttemptDeadlines.Owner {
    private let lastByte: @Sendable () -> Duration?
    private let expire: @Sendable (any Error) -> Void

    init(silence: @escaping @Sendable () -> Duration?, expire: @escaping @Sendable (any Error) -> Void) {
        (lastByte, self.expire) = (silence, expire)
    }

    let currentURL = URL(filePath: "/")
    var silence: Duration? { lastByte() }
    func afterReading(_ body: @escaping @Sendable () -> Void) { body() }
    func abort(with error: any Error, by deadlines: AttemptDeadlines) { expire(error) }
}

extension AttemptDeadlines {
    fileprivate func begin(
        silence: @escaping @Sendable () -> Duration? = { nil },
        _ expire: @escaping @Sendable (any Error) -> Void
    ) {
        begin(for: Attempt(silence: silence, expire: expire))
    }
}
