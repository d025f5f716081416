internal import DeferredCore
public import Foundation

extension HTTPTask {
    /// Completes the task with an error about its request, unless it is complete.
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

    /// Completes the task with a response to its request, unless it is complete.
    ///
    /// - Returns: True for exactly one caller, ever.
    @discardableResult
    public func succeed(_ status: HTTPStatus, headers: HTTPHeaders = [:], body: Data = Data(), url: URL? = nil) -> Bool
    {
        complete(with: .success(.init(request: request, status: status, headers: headers, body: body, url: url)))
    }

    /// Fails the task if it was cancelled, and returns whether it is complete, so that nothing is left to do.
    ///
    /// A terminal loader calls this first, since a task can be cancelled before it is loaded.
    public func failIfCancelled() -> Bool {
        execution.failIfCancelled()
    }
}
