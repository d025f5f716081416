public import DeferredCore

extension Task {
    /// The producer's side of a task, which fails the task if it is lost unfilled.
    ///
    /// Fill it with ``succeed(with:)``, ``fail(with:)`` or ``fill(with:)``; the first call wins. If its last reference
    /// is released before that, its task fails with ``BrokenPromise``. Capture it in a completion handler, and a
    /// framework that loses the handler ends the task instead of leaving it pending for ever.
    ///
    /// ```swift
    /// let promise = Task<Data>.Promise()
    /// load { data, error in
    ///     if let data { promise.succeed(with: data) } else { promise.fail(with: error ?? URLError(.unknown)) }
    /// }
    /// return Task(promise)
    /// ```
    @_fixed_layout
    public final class Promise: FutureProtocol {
        @usableFromInline package let storage = ProducerStorage<Result>()
        @usableFromInline let file: StaticString
        @usableFromInline let line: UInt

        /// Creates a promise.
        ///
        /// - Parameters:
        ///   - file: Reported by ``BrokenPromise``.
        ///   - line: Like `file`.
        @inlinable
        public init(file: StaticString = #fileID, line: UInt = #line) {
            self.file = file
            self.line = line
        }

        @inlinable
        deinit {
            if !storage.isFinished {
                fill(with: .failure(BrokenPromise(file: file, line: line)))
            }
        }

        /// Ends the task, unless it has ended.
        ///
        /// - Returns: True for exactly one caller, ever.
        @inlinable
        @discardableResult
        public func fill(with result: Result) -> Bool {
            storage.fill(with: result, hasFailed: result.isFailure, isTrivial: result.isTrivial) { TaskNode.end($0) }
        }

        /// Ends the task with a value, unless it has ended. See ``fill(with:)``.
        @inlinable
        @discardableResult
        public func succeed(with value: Success) -> Bool { fill(with: .success(value)) }

        /// Ends the task without a value, unless it has ended. See ``fill(with:)``.
        @inlinable
        @discardableResult
        public func succeed() -> Bool where Success == Void { succeed(with: ()) }

        /// Ends the task with an error, unless it has ended. See ``fill(with:)``.
        @inlinable
        @discardableResult
        public func fail(with error: any Error) -> Bool { fill(with: .failure(error)) }

        /// Ends the task, and stops the program if it has already ended.
        ///
        /// For producers that can prove that they are the only one.
        @inlinable
        public func mustFill(with result: Result, file: StaticString = #fileID, line: UInt = #line) {
            if !fill(with: result) {
                fatalError(
                    "this promise is already filled; use fill(with:) if several callers may fill it",
                    file: file,
                    line: line
                )
            }
        }

        /// Calls `body` with the result, once. The handler does not keep the promise.
        @inlinable
        @discardableResult
        public func upon(
            _ executor: some Executor,
            execute body: @escaping @Sendable (Result) -> Void
        ) -> Registration {
            storage.upon(executor, body)
        }

        /// The result, or `nil` if there is none yet; runs handlers that this thread has put off first.
        ///
        /// See ``DeferredCore/Deferred/peek()``.
        @inlinable
        public func peek() -> Result? { storage.look() }

        /// The result as a plain future, which does not keep the promise.
        @inlinable
        public var future: Future<Result> { Future(storage) }
    }
}

extension Task {
    /// Creates a task that ends when `promise` is filled, and fails with ``BrokenPromise`` if the promise is lost.
    ///
    /// ```swift
    /// return Task(promise, uponCancel: { $0.fail(with: CancellationError()) })
    /// ```
    ///
    /// - Parameters:
    ///   - promise: Not kept: neither by the task, nor for the handler.
    ///   - reporter: The reporter of the producer's progress, if it has one. Kept as long as the task.
    ///   - onCancel: Called with the promise at most once, on the thread that cancels, if that happens before the end.
    ///     It should make the producer fill the promise soon, or fill it itself. Use the promise that is passed in: a
    ///     captured promise would be kept as long as somebody holds the task, and a lost completion handler would never
    ///     end it. The same happens if it captures a request whose completion handler captures the promise: capture the
    ///     request weakly if it keeps its handler. Kept until the task ends, or until nobody is left who could cancel.
    @inlinable
    public init(
        _ promise: Promise,
        reporter: ProgressReporter? = nil,
        uponCancel onCancel: @escaping @Sendable (Promise) -> Void
    ) {
        self.init(producedBy: promise.storage, TaskWork(reporter)) { [weak promise] in
            // Without its promise, the task has ended.
            if let promise { onCancel(promise) }
        }
    }

    /// Creates a task that ends when `promise` is filled, and fails with ``BrokenPromise`` if the promise is lost.
    @inlinable
    public init(_ promise: Promise) {
        self.init(producedBy: promise.storage, .opaque, nil)
    }

    /// Creates a task as ``init(_:reporter:uponCancel:)-(_,_,(Task<Success>.Promise)->Void)`` does, with a closure that
    /// may keep the promise.
    @available(
        *,
        deprecated,
        message:
            "a closure that captures the promise keeps it alive, so the task can't fail when the promise is lost; take the promise as a parameter: uponCancel: { promise in … }"
    )
    @_disfavoredOverload
    @inlinable
    public init(
        _ promise: Promise,
        reporter: ProgressReporter? = nil,
        uponCancel onCancel: @escaping @Sendable () -> Void
    ) {
        self.init(producedBy: promise.storage, TaskWork(reporter), onCancel)
    }
}

/// The error of a task whose ``Task/Promise`` was dropped unfilled.
///
/// It names where the promise was created, not where it was lost: start there to find the code that should have filled
/// it.
public struct BrokenPromise: Error, Sendable, CustomStringConvertible {
    /// The file where the promise was created, as `Module/File.swift`.
    public let file: StaticString
    /// The line where the promise was created.
    public let line: UInt

    @usableFromInline
    init(file: StaticString, line: UInt) {
        self.file = file
        self.line = line
    }

    /// One line for a log.
    public var description: String {
        "\(file):\(line): the promise was dropped before anybody filled it"
    }
}
