internal import DeferredCore
public import DeferredTask

extension HTTPTask {
    /// This execution as a ``DeferredTask/Task``, for `map`, `flatMap`, `allSucceeded` and all that.
    ///
    /// ```swift
    /// let users = try await requests.map { chain.load($0).task }.allSucceeded().get()
    /// ```
    ///
    /// It fails with an ``HTTPError``. Cancelling it cancels this one, and its progress is what the terminal loader
    /// reports in bytes.
    public var task: Task<HTTPResponse> {
        let result = future.map { result in result.mapError { $0 as any Error } }
        return Task(result, reporter: execution.reporter, uponCancel: { [execution] in execution.cancel() })
    }

    /// Reports how far the transfer is, for a terminal loader of one's own.
    ///
    /// - Parameters:
    ///   - completed: Bytes so far, in one attempt.
    ///   - total: All bytes; `nil` if that is not known.
    public func report(completed: Int64, of total: Int64?) {
        execution.reporter.report(completed: completed, of: total)
    }
}
