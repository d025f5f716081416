public import DeferredCore
public import DeferredTask
public import Dispatch
public import Foundation

// Names of the archived Deferred library that differ from ours, so that its users' code compiles, and the compiler says
// what to write instead. Not here: `Task.init(success:)` and `Task.init(catching:)`, since the trailing closure of
// `Task { }` would match them, disfavoured or not.
//
// The old label `upon:` has no default argument and is disfavoured, so that only code that spells it finds it.

extension Task {
    /// Same as ``DeferredTask/Task/flatMap(on:_:)-kb45``.
    @available(*, deprecated, renamed: "flatMap(on:_:)")
    public func andThen<NewSuccess: Sendable>(
        upon executor: some Executor,
        start startNextTask: @escaping @Sendable (Success) throws -> Task<NewSuccess>
    ) -> Task<NewSuccess> {
        flatMap(on: executor, startNextTask)
    }

    /// See ``DeferredTask/Task/retry(_:on:_:)-(_,Executor,_)``. Retries at once; a ``DeferredTask/RetryPolicy`` has pauses.
    ///
    /// - Parameters:
    ///   - executor: The executor on which attempts begin.
    ///   - numberOfAttempts: The number of attempts after the first.
    ///   - shouldRetry: Returns whether an error is worth another attempt.
    ///   - startTask: Starts each attempt.
    @available(*, deprecated, message: "use 'Task.retry(_:on:_:)', whose policy counts the first attempt as well")
    public static func `repeat`(
        upon executor: some Executor,
        count numberOfAttempts: Int = 3,
        continuingIf shouldRetry: @escaping @Sendable (any Error) -> Bool = { _ in true },
        to startTask: @escaping @Sendable () throws -> Task
    ) -> Task {
        let attempts = min(max(numberOfAttempts, 0), .max - 1) + 1
        let policy = RetryPolicy(attempts: attempts, base: .zero, isRetryable: shouldRetry)
        return retry(policy, on: executor) { _ in try startTask() }
    }

    /// See ``DeferredTask/Task/failure(_:)``.
    @available(*, deprecated, renamed: "failure(_:)")
    public init(failure error: any Error) {
        self = .failure(error)
    }

    /// Creates a task that succeeds when `future` is filled.
    @available(*, deprecated, message: "use 'Task(future.map { .success($0) }, progress: progress)'")
    public init(succeedsFrom future: some FutureProtocol<Success>, progress: Progress) {
        self.init(future.map { .success($0) }, progress: progress)
    }

    /// Returns this task, after adding a cancellation handler. See ``DeferredTask/Task/uponCancel(execute:)``.
    @available(*, deprecated, message: "leave it out: a task has one type; 'uponCancel(execute:)' adds a handler")
    public func eraseToTask(uponCancel onCancel: (@Sendable () -> Void)? = nil) -> Task {
        if let onCancel { uponCancel(execute: onCancel) }
        return self
    }
}

extension Task {
    /// See ``DeferredTask/Task/map(on:_:)-(Executor,_)``.
    @_disfavoredOverload
    @available(*, deprecated, renamed: "map(on:_:)")
    public func map<NewSuccess: Sendable>(
        upon executor: some Executor,
        transform: @escaping @Sendable (Success) throws -> NewSuccess
    ) -> Task<NewSuccess> {
        map(on: executor, transform)
    }

    /// See ``DeferredTask/Task/map(on:_:)-(MainActorExecutor,_)``.
    @_disfavoredOverload
    @available(*, deprecated, renamed: "map(on:_:)")
    public func map<NewSuccess: Sendable>(
        upon executor: MainActorExecutor,
        transform: @escaping @MainActor @Sendable (Success) throws -> NewSuccess
    ) -> Task<NewSuccess> {
        map(on: executor, transform)
    }

    /// See ``DeferredTask/Task/flatMap(on:_:)-kb45``.
    @_disfavoredOverload
    @available(*, deprecated, renamed: "flatMap(on:_:)")
    public func flatMap<NewSuccess: Sendable>(
        upon executor: some Executor,
        _ transform: @escaping @Sendable (Success) throws -> Task<NewSuccess>
    ) -> Task<NewSuccess> {
        flatMap(on: executor, transform)
    }

    /// See ``DeferredTask/Task/flatMap(on:_:)-2fvgd``.
    @_disfavoredOverload
    @available(*, deprecated, renamed: "flatMap(on:_:)")
    public func flatMap<NewSuccess: Sendable>(
        upon executor: MainActorExecutor,
        _ transform: @escaping @MainActor @Sendable (Success) throws -> Task<NewSuccess>
    ) -> Task<NewSuccess> {
        flatMap(on: executor, transform)
    }

    // Not disfavoured: a trailing closure is to find this one, and not `recover(upon:substituting:)`.
    /// See ``DeferredTask/Task/recover(on:_:)-(Executor,_)``.
    @available(*, deprecated, renamed: "recover(on:_:)")
    public func recover(
        upon executor: some Executor,
        _ substitute: @escaping @Sendable (any Error) throws -> Success
    ) -> Task {
        recover(on: executor, substitute)
    }

    /// See ``DeferredTask/Task/retry(_:on:_:)-(_,Executor,_)``.
    @_disfavoredOverload
    @available(*, deprecated, renamed: "retry(_:on:_:)")
    public static func retry(
        _ policy: RetryPolicy,
        upon executor: some Executor,
        _ start: @escaping @Sendable (_ attempt: Int) throws -> Task
    ) -> Task {
        retry(policy, on: executor, start)
    }

    /// See ``DeferredTask/Task/async(on:flags:onCancel:execute:)``.
    @_disfavoredOverload
    @available(
        *,
        deprecated,
        message: "use 'async(on:flags:onCancel:execute:)', and name the queue; it was '.any()'"
    )
    public static func async(
        upon queue: DispatchQueue = .any(),
        flags: DispatchWorkItemFlags = [],
        onCancel error: @autoclosure @escaping @Sendable () -> any Error = CancellationError(),
        execute work: @escaping @Sendable () throws -> Success
    ) -> Task {
        async(on: queue, flags: flags, onCancel: error(), execute: work)
    }
}

extension CancellationToken {
    /// See ``DeferredTask/CancellationToken/isCancelled``.
    @available(*, deprecated, renamed: "isCancelled")
    public var isCancelling: Bool { isCancelled }
}

extension CancellationTokenSource {
    /// See ``DeferredTask/CancellationTokenSource/isCancelled``.
    @available(*, deprecated, renamed: "isCancelled")
    public var isCancelling: Bool { isCancelled }
}

/// See ``DeferredTask/Task/Result-swift.typealias``.
@available(*, deprecated, message: "use 'Task<Success>.Result', or 'Result<Success, any Error>'")
public typealias TaskResult<Success> = Result<Success, any Error>
