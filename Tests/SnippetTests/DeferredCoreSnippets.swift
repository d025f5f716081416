// swift-format-ignore-file
// Written by Documentation/snippets.py from Documentation/Deferred.docc/Reference/DeferredCore/DeferredCore.md.

import DeferredCore
import DeferredTesting
import TestSupport
import Testing

@Suite(.ownThread, .timeLimit(.minutes(1)))
struct DeferredCoreSnippets {
    @Test func `Overview`() async throws {
#sourceLocation(file: "Documentation/Deferred.docc/Reference/DeferredCore/DeferredCore.md", line: 8)


        let answer = Deferred<Int>()
        let text = answer.map { "The answer is \($0)" }
        let registration = answer.upon(.any()) { print("on a background queue: \($0)") }

        answer.fill(with: 42)
        print(await text.value)
#sourceLocation()
#sourceLocation(file: "Documentation/Deferred.docc/Reference/DeferredCore/DeferredCore.md", line: 18)
        registration.cancel()
        #expect(text.peek() == "The answer is 42")
#sourceLocation()
    }
}
