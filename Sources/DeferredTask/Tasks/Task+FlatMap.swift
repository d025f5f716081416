public import DeferredCore

extension Task {
    /// Returns a task that ends as the task that `transform` starts with the value.
    ///
    /// - Parameters:
    ///   - executor: The executor that runs `transform`; by default, it runs on the thread that ends this task.
    ///     Failures bypass it.
    ///   - transform: Fails the new task if it throws. Kept until it has run, or the new task is cancelled.
    /// - Returns: A task whose cancellation cancels this one and, once it runs, the inner one.
    @inlinable
    @inline(__always)
    public func flatMap<NewSuccess: Sendable>(
        on executor: any Executor = .immediate,
        _ transform: @escaping @Sendable (Success) throws -> Task<NewSuccess>
    ) -> Task<NewSuccess> {
        if case .failure(let error)? = peek(on: executor) { return .failure(error) }
        return adopt(executor, SuccessCase.self, transform)
    }

    /// The result, if a closure on `executor` may run now.
    @inlinable
    func peek<E: Executor>(on executor: E) -> Result? { executor is ImmediateExecutor ? storage.peek() : nil }

    /// Returns a task that ends as the task that `body` starts.
    @inlinable
    func adopt<Case: ResultCase, E: Executor>(
        _ executor: E,
        _: Case.Type,
        _ body: @escaping @Sendable (Case.Content) throws -> Task<Case.NewSuccess>
    ) -> Task<Case.NewSuccess> where Case.Success == Success {
        if let result = peek(on: executor), case .content(let content) = Case.split(result) {
            let task: Task<Case.NewSuccess>? = Trampoline.nest {
                do { return try body(content) } catch { return .failure(error) }
            }
            // Otherwise, calling it would nest too deeply.
            if let task { return task }
        }
        let children = TaskNode(expected: 1, isCollapsible: true)
        return derive(executor, TaskFlatMap<Case>(body: body, children: children), .children(children))
    }

    // Disfavoured, and a single one: where several overloads fit a closure, chains take the type checker exponential
    // time.
    /// Returns a task that succeeds with the value of the future that `transform` starts.
    ///
    /// For a future of a result, return `Task(future)` instead, so that its failures are the task's.
    ///
    /// - Parameters:
    ///   - executor: See ``flatMap(on:_:)-kb45``.
    ///   - transform: Fails the new task if it throws. Kept until it has run, or the new task is cancelled.
    /// - Returns: A task whose cancellation cancels this one. Once `transform` has run, the task waits for the future,
    ///   which cannot be cancelled.
    @inlinable
    @inline(__always)
    @_disfavoredOverload
    public func flatMap<NewFuture: FutureProtocol>(
        on executor: any Executor = .immediate,
        _ transform: @escaping @Sendable (Success) throws -> NewFuture
    ) -> Task<NewFuture.Value> {
        flatMap(on: executor) { Task<NewFuture.Value>(succeedsFrom: try transform($0)) }
    }
}

/// Replaces the content of a result with the result of the task that a closure starts.
@frozen
@usableFromInline
struct TaskFlatMap<Case: ResultCase>: TaskTransform {
    @usableFromInline let body: @Sendable (Case.Content) throws -> Task<Case.NewSuccess>
    @usableFromInline let children: TaskNode

    @inlinable
    init(body: @escaping @Sendable (Case.Content) throws -> Task<Case.NewSuccess>, children: TaskNode) {
        self.body = body
        self.children = children
    }

    @inlinable
    func run(_ content: Case.Content) -> Outcome<Result<Case.NewSuccess, any Error>> {
        do { return children.start(try body(content)) } catch { return .value(.failure(error)) }
    }
}

extension TaskNode {
    /// Registers `task` as the child of a stage, and returns the stage's outcome: waiting for that task.
    @inlinable
    func start<Success>(_ task: Task<Success>) -> Outcome<Task<Success>.Result> {
        let handle = task.handle
        started(handle, hasFailed: handle == nil && task.storage.peek()?.isFailure == true)
        // The stage's end releases the child again.
        if isCircle(task) { return .value(.failure(CircularTask())) }
        // Kept until then, so that no other thread puts the task's own child in its place meanwhile.
        withExtendedLifetime(task) { collapse() }
        return .future(task.future)
    }
}
