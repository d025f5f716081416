// swift-format-ignore-file
// Written by Documentation/snippets.py from Documentation/Deferred.docc/Reference/DeferredTask/DeferredTask.md.

import Deferred
import DeferredTesting
import Foundation
import TestSupport
import Testing

@Suite(.ownThread, .timeLimit(.minutes(1)))
struct DeferredTaskSnippets {
    @Test func `Overview`() async throws {
#sourceLocation(file: "Documentation/Deferred.docc/Reference/DeferredTask/DeferredTask.md", line: 8)



        func answer() -> Task<Int> {
            let promise = Task<Int>.Promise()  // the task fails if this is lost
            DispatchQueue.global().async { promise.succeed(with: 42) }
            return Task(promise, uponCancel: { $0.fail(with: CancellationError()) })
        }

        let text = answer()
            .map { "The answer is \($0)" }
            .timeout(after: .seconds(60))  // fails then, and cancels the task before it
        print(try await text.value)
#sourceLocation()
#sourceLocation(file: "Documentation/Deferred.docc/Reference/DeferredTask/DeferredTask.md", line: 23)
        #expect(try await text.value == "The answer is 42")
#sourceLocation()
    }
}
