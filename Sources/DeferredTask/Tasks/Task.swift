public import DeferredCore

/// Work that succeeds with a value or fails with an error, reports progress, and can be cancelled.
///
/// A task is a future of a `Result`. Derive others from it with `map`, `flatMap`, `recover` and `fallback`: results and
/// failures propagate down the chain, cancellation propagates up, and progress covers the whole chain.
///
/// ```swift
/// let size = session.beginDataTask(with: url).map { data, _ in data.count }
/// size.uponSuccess(on: .main) { print("\($0) bytes") }
/// size.uponFailure(on: .main) { print("failed: \($0)") }
/// size.cancel()  // stops the request
/// ```
///
/// Cancelling is a request, not an outcome: the producer decides how the task ends. A derived task whose closure has
/// not begun ends at once, with `CancellationError`.
///
/// A `Task` is a reference: copies share one result. Dropping it does not stop the work. Cancellation handlers are freed
/// when no task that could cancel the work is held any more. Those of a plain stage, such as a `map`, are freed when no
/// task of its chain is held any more. A derived task keeps its own result and its executor. All members are safe to use
/// from any thread.
///
/// Each member that takes an executor also takes `.mainActor`, for a closure that is isolated to the main actor.
///
/// In a file that imports this module, `Task { }`, `Task.sleep(for:)` and the like still mean what they mean in Swift.
/// This `Task` has one generic argument: declare tasks as `Task<Void>`, and spell Swift's own
/// `_Concurrency.Task<Void, Never>`, or use a `typealias`. Since any task can fail, its ``value`` takes `try`. The article
/// "Using async/await" compares all uses.
@frozen
public struct Task<Success: Sendable>: FutureProtocol, Cancellable {
    /// The result of a task: its value, or its error.
    public typealias Result = Swift.Result<Success, any Error>
    /// The type of the error: any task can fail.
    public typealias Failure = any Error

    @usableFromInline package let storage: FutureStorage<Result>
    /// The nearest control of this task and those that it was derived from; `nil` for a task that was created with its
    /// result.
    @usableFromInline package let control: TaskControl?
    /// The number of plain stages since; see ``TaskHandle``.
    @usableFromInline let plainCount: UInt32

    @inlinable
    package init(_ storage: FutureStorage<Result>, _ control: TaskControl?, plainCount: UInt32 = 0) {
        self.storage = storage
        self.control = control
        self.plainCount = plainCount
    }

    /// The task without its type; `nil` if it was created with its result.
    @usableFromInline
    package var handle: TaskHandle? {
        guard let control else { return nil }
        return plainCount == 0
            ? TaskHandle(control) : TaskHandle(UnownedFuture(storage), control, plainCount: plainCount)
    }

    /// Creates a task that ends when `future` is filled.
    ///
    /// - Parameters:
    ///   - future: A `Deferred`, or any other future of a result. Handlers that the task adds to it do not keep it: if
    ///     the future is lost unfilled, the task never ends. A lost ``Promise`` would fail it. Of a `Task`, only the result
    ///     is taken: cancel it in `onCancel`, or use ``init(_:)-(Task<Success>)``.
    ///   - reporter: The reporter of the producer's progress, if it has one. Kept as long as the task.
    ///   - onCancel: Called at most once, on the thread that cancels, if that happens before the end. It should make
    ///     the producer fill `future` soon. Kept until the task ends, or until nobody is left who could cancel.
    @inlinable
    public init(
        _ future: some FutureProtocol<Result>,
        reporter: ProgressReporter? = nil,
        uponCancel onCancel: (@Sendable () -> Void)? = nil
    ) {
        self.init(future.future.storage, TaskWork(reporter), onCancel)
    }

    /// Creates a task that ends when `future` is filled.
    ///
    /// An overload for ``DeferredCore/Future``, so that its members need no type: `Task<Int>(.never) { stop() }`.
    ///
    /// - Parameters:
    ///   - future: See ``init(_:reporter:uponCancel:)-98y7s``.
    ///   - onCancel: See ``init(_:reporter:uponCancel:)-98y7s``.
    @inlinable
    public init(_ future: Future<Result>, uponCancel onCancel: (@Sendable () -> Void)? = nil) {
        self.init(future.storage, .opaque, onCancel)
    }

    /// Creates a task that is another one: with its result, its progress, and its cancellation.
    @inlinable
    public init(_ task: Task<Success>) { self = task }

    /// Creates a task that succeeds when `future` is filled.
    @inlinable
    public init(
        succeedsFrom future: some FutureProtocol<Success>,
        uponCancel onCancel: (@Sendable () -> Void)? = nil
    ) {
        self.init(future.map { .success($0) }, uponCancel: onCancel)
    }

    /// Creates a task of a future that has no reference to the task.
    @inlinable
    init(_ storage: FutureStorage<Result>, _ work: TaskWork, _ onCancel: (@Sendable () -> Void)?) {
        // A task that has ended has nothing to cancel, but counts in the progress of tasks derived from it if it
        // reports.
        if storage.isFinished, work.isOpaque {
            self.init(storage, nil)
            return
        }
        // Registered now, so that it is told before handlers that are added before the end. A handler that is added during
        // the end, by another thread, may come first, and finds the future finished; nothing relies on more.
        let observer = storage.observer(lost: TaskNode.lost) { observer, future in
            let result = unsafeDowncast(future, to: FutureStorage<Result>.self).peek()
            if let attached = observer.attachment.end(hasFailed: result?.isFailure ?? false) { TaskNode.end(attached) }
        }
        self.init(storage, TaskControl(storage, work, observer: observer, onCancel: onCancel))
    }

    /// Creates a task of a future whose producer tells it of the end.
    ///
    /// The producer can tell only one task; further tasks observe the future instead.
    @inlinable
    package init(producedBy storage: ProducerStorage<Result>, _ work: TaskWork, _ onCancel: (@Sendable () -> Void)?) {
        if !storage.isFinished, storage.attachment.reserve() {
            self.init(storage, TaskControl(storage, work, onCancel: onCancel))
        } else {
            self.init(storage, work, onCancel)
        }
    }

    /// Returns a task that has succeeded.
    @inlinable
    public static func success(_ value: Success) -> Task {
        Task(FutureStorage(filledWith: .success(value)), nil)
    }

    /// Returns a task that has failed.
    @inlinable
    public static func failure(_ error: any Error) -> Task {
        Task(FutureStorage(filledWith: .failure(error)), nil)
    }

    /// A task that never ends. Cancelling it only marks it as cancelled.
    public static var never: Task { Task(Future.never) }

    /// Calls `body` now, and returns a task that has ended with its outcome.
    ///
    /// Not an initialiser, since the trailing closure of `Task { 1 }` would match it.
    @inlinable
    public static func catching(_ body: () throws -> Success) -> Task {
        Task(FutureStorage(filledWith: Result(catching: body)), nil)
    }

    /// The result as a plain future, which cannot be cancelled.
    @inlinable
    public var future: Future<Result> { Future(storage) }

    /// Calls `body` with the result, once. See ``DeferredCore/FutureProtocol/upon(_:execute:)``.
    @inlinable
    @discardableResult
    public func upon(_ executor: some Executor, execute body: @escaping @Sendable (Result) -> Void) -> Registration {
        storage.upon(executor, body)
    }

    /// The result, or `nil` if the task has not ended; runs handlers that this thread has put off first.
    ///
    /// See ``DeferredCore/Deferred/peek()``.
    ///
    /// - Complexity: O(1): one acquiring load if it has ended.
    @inlinable
    public func peek() -> Result? { storage.look() }
}

extension TaskWork {
    /// The work of a producer.
    @inlinable
    init(_ reporter: ProgressReporter?) {
        self = if let reporter { .reporting(reporter) } else { .opaque }
    }
}

extension Result {
    @inlinable
    var isFailure: Bool {
        if case .failure = self { true } else { false }
    }

    /// True if nothing has to be done to free the result where a future stores it.
    @inlinable
    var isTrivial: Bool { _isPOD(Success.self) && RawStorage.fits(Self.self) && !isFailure }
}

/// Tasks are equal if they are copies of one task, like Swift's own, so that they can be kept in a `Set`.
extension Task: Hashable {
    /// Returns a Boolean value that indicates whether both are the same task.
    public static func == (one: Task, other: Task) -> Bool { one.storage === other.storage }

    /// Feeds the task's identity into `hasher`.
    public func hash(into hasher: inout Hasher) { hasher.combine(ObjectIdentifier(storage)) }
}
