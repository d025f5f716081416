// swift-format-ignore-file
// Written by Documentation/snippets.py from .github/CONTRIBUTING.md.

import DeferredCore
import DeferredTask
import DeferredTesting
import TestSupport
import Testing

#sourceLocation(file: ".github/CONTRIBUTING.md", line: 88)


extension Task {
    /// Calls a closure with the value, before it reaches handlers and tasks derived from the result.
    ///
    /// - Parameters:
    ///   - executor: Where `body` runs; by default on the thread that ends this task. Failures pass by directly.
    ///   - body: May throw, and fails the new task then. Kept until it has run, or the new task is cancelled.
    /// - Returns: A task whose cancellation cancels this one too. `body` does not run if that comes first.
    func tap(
        on executor: some Executor = .immediate,
        _ body: @escaping @Sendable (Success) throws -> Void
    ) -> Task {
        map(on: executor) { value in
            try body(value)
            return value
        }
    }
}
#sourceLocation()

#sourceLocation(file: ".github/CONTRIBUTING.md", line: 116)





@Suite(.ownThread, .timeLimit(.minutes(1)))
struct TaskTapTests {
    @Test func `the closure sees the value, and the value passes`() throws {
        let log = Log<Int>()
        let task = Task.success(1).tap { log.add($0) }
        #expect(try task.peek()?.get() == 1)
        #expect(log.entries == [1])
    }

    @Test func `the captures of the closure are released at the end`() {
        let lifetimes = Lifetimes()
        let promise = Task<Int>.Promise()
        let task = Task(promise).tap { [token = lifetimes.make()] _ in token.touch() }
        promise.succeed(with: 1)
        withExtendedLifetime(task) { #expect(lifetimes.count == 0) }
    }
}
#sourceLocation()
