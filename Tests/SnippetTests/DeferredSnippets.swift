// swift-format-ignore-file
// Written by Documentation/snippets.py from Documentation/Deferred.docc/Deferred.md.

import Deferred
import DeferredTesting
import TestSupport
import Testing

@Suite(.ownThread, .timeLimit(.minutes(1)))
struct DeferredSnippets {
    @Test func `Overview`() async throws {
#sourceLocation(file: "Documentation/Deferred.docc/Deferred.md", line: 12)


        let answer = Deferred<Int>()
        let text = answer.map { "The answer is \($0)" }
        answer.fill(with: 42)
        print(await text.value)
#sourceLocation()
    }
}
