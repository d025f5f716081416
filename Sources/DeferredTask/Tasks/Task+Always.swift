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

    /// Returns a task that ends as this one does, after an asynchronous closure has seen the result and ended.
    ///
    /// For clean-up that itself takes requests, such as removing the parts of an upload that was cancelled: a `fallback`
    /// doesn't run after a cancellation.
    ///
    /// ```swift
    /// let upload = client.keepOpen(for: parts.flatMap(complete).always { result in
    ///     if case .failure = result { _ = await client.begin(abort).result }
    /// })
    /// ```
    ///
    /// - Parameter body: Called in a Swift task of its own that nobody cancels. Kept until it has ended, or until this
    ///   task's future is lost unfilled.
    /// - Returns: A task whose cancellation cancels this one, and waits for the closure all the same; both then end as this
    ///   one decides.
    @_disfavoredOverload
    public func always(_ body: @escaping @Sendable (Result) async -> Void) -> Task {
        derive(ImmediateExecutor(), TaskCleanUp(body: body))
    }
}

/// Runs an asynchronous closure with the result, and goes on with the result when that has ended.
@usableFromInline
struct TaskCleanUp<Success: Sendable>: TaskTransform {
    @usableFromInline typealias Case = WholeResult<Success>

    @usableFromInline let body: @Sendable (Result<Success, any Error>) async -> Void

    // Neither what it waits for nor the closure ends early.
    @usableFromInline static var endsWhenCancelled: Bool { false }

    @usableFromInline
    func run(_ content: Result<Success, any Error>) -> Outcome<Result<Success, any Error>> {
        let end = Deferred<Result<Success, any Error>>()
        _Concurrency.Task {
            await body(content)
            end.fill(with: content)
        }
        return .future(end.future)
    }
}

@frozen
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
