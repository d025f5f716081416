// swift-format-ignore-file
// Written by Documentation/snippets.py from Documentation/Deferred.docc/Reference/DeferredTesting/DeferredTesting.md.

import Deferred
import DeferredTesting
import TestSupport
import Testing

@Suite(.ownThread, .timeLimit(.minutes(1)))
struct DeferredTestingSnippets {
    @Test func `Overview`() async throws {
#sourceLocation(file: "Documentation/Deferred.docc/Reference/DeferredTesting/DeferredTesting.md", line: 9)




        let clock = ManualClock()
        let task = Task<Int>.never.timeout(after: .seconds(5), clock: clock)

        try await clock.waitForSleepers()
        clock.advance(by: .seconds(5))  // takes no time
        await #expect(throws: TimeoutError.self) { try await task.value }
#sourceLocation()
    }
}
