internal import DeferredCore
public import DeferredTask

extension HTTPTask {
    /// This execution as a ``DeferredTask/Task``, for `map`, `flatMap`, `await` and all that.
    ///
    /// ```swift
    /// let user = try await chain.load(request).task.get().decode(User.self)
    /// ```
    ///
    /// It fails with an ``HTTPError``. Cancelling it cancels this one, and its progress is what the terminal loader reports
    /// in bytes. It doesn't keep this one.
    public var task: Task<HTTPResponse> {
        let result = future.map { result in result.mapError { $0 as any Error } }
        return Task(result, reporter: reporter, uponCancel: { [weak self] in self?.cancel() })
    }

    /// Reports how far the transfer is, for a terminal loader of one's own.
    ///
    /// - Parameters:
    ///   - completed: Bytes so far, in one attempt.
    ///   - total: All bytes; `nil` if that is not known.
    public func report(completed: Int64, of total: Int64?) {
        reporter.report(completed: completed, of: total)
    }
}
