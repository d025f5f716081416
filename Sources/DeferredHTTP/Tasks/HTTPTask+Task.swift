internal import DeferredCore
public import DeferredTask

extension HTTPTask {
    /// This execution as a ``DeferredTask/Task``, for operators such as `map`, `flatMap` and `allSucceeded`.
    ///
    /// ```swift
    /// let users = try await requests.map { chain.load($0).task }.allSucceeded().get()
    /// ```
    ///
    /// It fails with an ``HTTPError``. Cancelling it cancels this execution, and its progress is the number of bytes
    /// that the terminal loader reports.
    public var task: Task<HTTPResponse> {
        let result = future.map { result in result.mapError { $0 as any Error } }
        return Task(result, reporter: execution.reporter, uponCancel: { [execution] in execution.cancel() })
    }

    /// Reports the progress of the transfer, for a custom terminal loader.
    ///
    /// - Parameters:
    ///   - completed: The number of bytes so far, in one attempt.
    ///   - total: The number of all bytes; `nil` if it is unknown.
    public func report(completed: Int64, of total: Int64?) {
        execution.reporter.report(completed: completed, of: total)
    }
}
