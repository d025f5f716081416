// swift-format-ignore-file
// Written by Documentation/snippets.py from Documentation/Deferred.docc/Articles/MigratingFromDeferred.md.

import Deferred
import DeferredTesting
import Foundation
import TestSupport
import Testing

@Suite(.ownThread, .timeLimit(.minutes(1)))
struct MigratingFromDeferredSnippets {
    @Test func `Before and after`() async throws {
#sourceLocation(file: "Documentation/Deferred.docc/Articles/MigratingFromDeferred.md", line: 113)
        func load(_ completion: @escaping @Sendable (Data?, (any Error)?) -> Void) { completion(Data("hello".utf8), nil) }
#sourceLocation()
#sourceLocation(file: "Documentation/Deferred.docc/Articles/MigratingFromDeferred.md", line: 116)



        // before
        let deferred = Deferred<Task<Data>.Result>()
        load { data, error in
            if let data { deferred.succeed(with: data) } else { deferred.fail(with: error ?? URLError(.unknown)) }
        }
        let before = Task(deferred, uponCancel: { deferred.fail(with: CancellationError()) })

        // after: if the handler is lost, the task fails
        let promise = Task<Data>.Promise()
        load { data, error in
            if let data { promise.succeed(with: data) } else { promise.fail(with: error ?? URLError(.unknown)) }
        }
        let after = Task(promise, uponCancel: { $0.fail(with: CancellationError()) })
#sourceLocation()
#sourceLocation(file: "Documentation/Deferred.docc/Articles/MigratingFromDeferred.md", line: 134)
        #expect(try await before.value == after.value)
#sourceLocation()
    }
}
