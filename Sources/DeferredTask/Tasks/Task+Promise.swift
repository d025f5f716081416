public import DeferredCore

extension Task {
    /// The producer's end of a task, which cannot be forgotten.
    ///
    /// Fill it with ``succeed(with:)``, ``fail(with:)`` or ``fill(with:)``; the first wins. If its last reference goes
    /// before that, however that happens, its task fails with ``BrokenPromise``. Capture it in a completion handler, and
    /// a framework that loses the handler ends the task instead of leaving it pending for ever.
    ///
    /// ```swift
    /// let promise = Task<Data>.Promise()
    /// load { data, error in
    ///     if let data { promise.succeed(with: data) } else { promise.fail(with: error ?? URLError(.unknown)) }
    /// }
    /// return Task(promise)
    /// ```
    public final class Promise: FutureProtocol {
        @usableFromInline let storage = FutureStorage<Result>()
        @usableFromInline let file: StaticString
        @usableFromInline let line: UInt

        /// Creates a promise.
        ///
        /// - Parameters:
        ///   - file: Named by ``BrokenPromise``.
        ///   - line: As `file`.
        @inlinable
        public init(file: StaticString = #fileID, line: UInt = #line) {
            self.file = file
            self.line = line
        }

        @inlinable
        deinit {
            if !storage.isFinished {
                _ = storage.fill(with: .failure(BrokenPromise(file: file, line: line)))
            }
        }

        /// Ends the task, unless it has ended.
        ///
        /// - Returns: True for exactly one caller, ever.
        @inlinable
        @discardableResult
        public func fill(with result: Result) -> Bool { storage.fill(with: result) }

        /// Ends the task with a value, unless it has ended. See ``fill(with:)``.
        @inlinable
        @discardableResult
        public func succeed(with value: Success) -> Bool { storage.fill(with: .success(value)) }

        /// Ends the task with an error, unless it has ended. See ``fill(with:)``.
        @inlinable
        @discardableResult
        public func fail(with error: any Error) -> Bool { storage.fill(with: .failure(error)) }

        /// Calls `body` with the result, once. It does not keep the promise.
        @inlinable
        @discardableResult
        public func upon(
            _ executor: some Executor,
            execute body: @escaping @Sendable (Result) -> Void
        ) -> Registration {
            storage.upon(executor, body)
        }

        /// The result, or `nil` if there is none yet.
        @inlinable
        public func peek() -> Result? { storage.look() }

        /// The result as a plain future. It does not keep the promise.
        @inlinable
        public var future: Future<Result> { Future(storage) }
    }
}

/// What a task fails with whose ``Task/Promise`` was dropped unfilled.
///
/// It names the place of the promise, not that of the loss: look there for who was to fill it.
public struct BrokenPromise: Error, Sendable, CustomStringConvertible {
    /// The file where the promise was made, as `Module/File.swift`.
    public let file: StaticString
    /// The line where the promise was made.
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
