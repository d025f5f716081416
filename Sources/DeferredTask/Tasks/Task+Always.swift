public import DeferredCore

extension Task {
    /// Returns a task that ends as this one does, after `body` has seen the result.
    ///
    /// For what has to happen however the work ends: stopping a spinner, closing a file, counting. Unlike the closures
    /// of other operators, `body` runs after a cancellation, too. Handlers of the new task run after `body` has
    /// returned.
    ///
    /// ```swift
    /// let page = download(url).always(on: .mainActor) { _ in spinner.stop() }
    /// ```
    ///
    /// - Parameters:
    ///   - executor: Where `body` runs; by default on the thread that ends this task.
    ///   - body: Kept until it has run, or until this task's future is lost unfilled.
    /// - Returns: A task whose cancellation cancels this one; both then end as this one decides. A producer that
    ///   ignores the cancellation is waited for, as long as it exists.
    @inlinable
    @inline(__always)
    public func always(
        on executor: any Executor = .immediate,
        _ body: @escaping @Sendable (Result) -> Void
    ) -> Task {
        if let result = peek(on: executor) {
            body(result)
            return self
        }
        return derive(executor, TaskAlways(body: body))
    }
}

@usableFromInline
struct TaskAlways<Success: Sendable>: TaskTransform {
    @usableFromInline typealias Case = WholeResult<Success>

    @usableFromInline let body: @Sendable (Result<Success, any Error>) -> Void

    @inlinable
    init(body: @escaping @Sendable (Result<Success, any Error>) -> Void) {
        self.body = body
    }

    // A cancellation does not end this stage: the closure runs with the result of the task it waits for.
    @inlinable
    static var endsWhenCancelled: Bool { false }

    @inlinable
    func run(_ content: Result<Success, any Error>) -> Outcome<Result<Success, any Error>> {
        body(content)
        return .value(content)
    }
}
