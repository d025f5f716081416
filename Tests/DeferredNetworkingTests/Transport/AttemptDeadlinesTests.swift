import DeferredCore
import Foundation
import TestSupport
import Testing

@testable import DeferredNetworking

#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

@Suite("Deadlines of an attempt", .ownThread, .timeLimit(.minutes(1)))
struct AttemptDeadlinesTests {
    private func deadlines(idle: Duration) throws -> AttemptDeadlines {
        let request = URLRequest(url: try #require(URL(string: "http://host/")))
        return AttemptDeadlines(.init(idle: idle), .checked(request))
    }

    @Test func `no silence counts while the platform waits for a network, and it counts again after that`() async throws
    {
        let waiting = try deadlines(idle: .milliseconds(10))
        let expired = Deferred<Void>()
        waiting.begin { _ in expired.fill() }
        waiting.noteWaiting()
        let other = try deadlines(idle: .milliseconds(200))
        let later = Deferred<Void>()
        other.begin { _ in later.fill() }
        await later.value
        #expect(!expired.isFilled)
        waiting.noteActivity()
        await expired.value
        waiting.end()
        other.end()
    }
}
