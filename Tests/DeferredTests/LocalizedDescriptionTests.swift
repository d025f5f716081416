import Deferred
import DeferredTask
import Foundation
import TestSupport
import Testing

@Suite(.ownThread, .timeLimit(.minutes(1)))
struct LocalizedDescriptionTests {
    @Test func `what the library's errors say to users is the line for the log`() async throws {
        let lost = Task(Task<Int>.Promise())
        let broken = try #require(await #expect(throws: BrokenPromise.self) { try await lost.value })
        let errors: [any Error & CustomStringConvertible] = [
            broken, TimeoutError(duration: .seconds(5)), CircularTask(), URLClientError.bodyTooLarge(limit: 5),
            URLClientError.shutDown, HTTPError(.cancelled, request: HTTPRequest()),
            HTTPError(.cannotConnect, request: HTTPRequest(), reason: "the chain has no terminal loader"),
        ]
        for error in errors {
            #expect((error as any Error).localizedDescription == error.description)
        }
    }

    @Test func `where all tasks failed, each says its own`() async throws {
        let errors: [any Error] = [URLError(.timedOut), TimeoutError(duration: .seconds(5))]
        let all = errors.map { Task<Int>.failure($0) }.firstSucceeded()
        let error = try #require(await #expect(throws: AllTasksFailed.self) { try await all.value })
        let parts = error.errors.map(\.localizedDescription).joined(separator: "; ")
        #expect(error.localizedDescription == "none of 2 tasks succeeded: \(parts)")
    }
}
