internal import DeferredCore
public import Foundation

extension HTTPTask {
    /// Completes the task with an error about its request, unless it is completed.
    ///
    /// - Returns: True for exactly one caller, ever.
    @discardableResult
    public func fail(
        _ code: HTTPError.Code,
        response: HTTPResponse? = nil,
        underlying: (any Error)? = nil
    ) -> Bool {
        execution.fail(code, response: response, underlying: underlying)
    }

    /// Completes the task with a response to its request, unless it is completed.
    ///
    /// - Returns: True for exactly one caller, ever.
    @discardableResult
    public func succeed(_ status: HTTPStatus, headers: HTTPHeaders = [:], body: Data = Data(), url: URL? = nil) -> Bool
    {
        complete(with: .success(.init(request: request, status: status, headers: headers, body: body, url: url)))
    }

    /// Fails a task that was cancelled, and returns whether nothing is left to do: whether the task is completed.
    ///
    /// A terminal loader calls this first, since a task can be cancelled before it is loaded.
    public func failIfCancelled() -> Bool {
        execution.failIfCancelled()
    }
}
