// swift-format-ignore-file
// Written by Documentation/snippets.py from Documentation/Deferred.docc/Articles/MigratingFromEventLoopFuture.md.

import Deferred
import DeferredTesting
import TestSupport
import Testing

#sourceLocation(file: "Documentation/Deferred.docc/Articles/MigratingFromEventLoopFuture.md", line: 120)
private struct User: Sendable { let name: String }
private enum StoreError: Error { case unknown }
private enum store {
    static func load(_ id: Int, completion: @escaping @Sendable (User?, (any Error)?) -> Void) {
        completion(id == 1 ? User(name: "Ada") : nil, nil)
    }
}
@Sendable private func greeting(for user: User) throws -> String { "Hello, \(user.name)" }
#sourceLocation()

@Suite(.ownThread, .timeLimit(.minutes(1)))
struct MigratingFromEventLoopFutureSnippets {
    @Test func `Name by name`() async throws {
#sourceLocation(file: "Documentation/Deferred.docc/Articles/MigratingFromEventLoopFuture.md", line: 85)
        let additions = [Task.success(2), Task.success(3)]
#sourceLocation()
#sourceLocation(file: "Documentation/Deferred.docc/Articles/MigratingFromEventLoopFuture.md", line: 88)


        let sum = additions.reduce(Task.success(1)) { sum, addition in
            sum.flatMap { sum in addition.map { sum + $0 } }
        }
        print(try await sum.value)  // 6
#sourceLocation()
#sourceLocation(file: "Documentation/Deferred.docc/Articles/MigratingFromEventLoopFuture.md", line: 96)
        #expect(try await sum.value == 6)
#sourceLocation()
    }

    @Test func `Before and after`() async throws {
#sourceLocation(file: "Documentation/Deferred.docc/Articles/MigratingFromEventLoopFuture.md", line: 130)
        func user(_ id: Int) -> Task<User> {
            let promise = Task<User>.Promise()
            store.load(id) { user, error in
                if let user { promise.succeed(with: user) } else { promise.fail(with: error ?? StoreError.unknown) }
            }
            return Task(promise, uponCancel: { $0.fail(with: CancellationError()) })
        }

        let text = user(1)
            .map { try greeting(for: $0) }
            .recover { error in
                if error.isCancellation { throw error }
                return "Hello, stranger"
            }
        text.uponSuccess(on: .main) { print($0) }
#sourceLocation()
#sourceLocation(file: "Documentation/Deferred.docc/Articles/MigratingFromEventLoopFuture.md", line: 147)
        #expect(try await text.value == "Hello, Ada")
#sourceLocation()
    }
}
