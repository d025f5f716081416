/// Turns responses whose status isn't accepted into failures.
///
/// Without this loader, any response is a success, whatever its status. With it, a response whose status isn't accepted
/// fails with ``HTTPError/Code/unacceptableStatus``, and the error has the response. Put it before ``Retry`` and
/// similar loaders, which have to see responses.
///
/// ```swift
/// let chain = Validate() --> Retry() --> URLSessionLoader()
/// request.acceptsStatus = { $0.isSuccess || $0 == .notFound }
/// ```
public struct Validate: HTTPLink {
    /// The next loader, set by `-->`.
    public var next: (any HTTPLoader)?
    private let accepts: @Sendable (HTTPStatus) -> Bool

    /// Creates the loader.
    ///
    /// - Parameter accepts: Returns true for accepted statuses of requests without an ``HTTPRequest/acceptsStatus``; by
    ///   default, those from 200 to 299.
    public init(accepting accepts: @escaping @Sendable (HTTPStatus) -> Bool = \.isSuccess) {
        self.accepts = accepts
    }

    /// Passes the task on, and checks the status of the response.
    public func load(_ task: HTTPTask) {
        task.send(task.request, to: next) { [accepts] result in
            guard case .success(let response) = result, !task.request.accepts(response.status, orElse: accepts) else {
                task.complete(with: result)
                return
            }
            task.complete(with: .failure(HTTPError(.unacceptableStatus, request: response.request, response: response)))
        }
    }
}

extension HTTPRequest {
    /// The test by which ``Validate`` accepts a status; `nil` for the loader's own.
    public var acceptsStatus: (@Sendable (HTTPStatus) -> Bool)? {
        get { self[AcceptsStatusOption.self] }
        set { self[AcceptsStatusOption.self] = newValue }
    }

    // `??` would allocate: closures are converted on their way through a generic function.
    fileprivate func accepts(_ status: HTTPStatus, orElse loadersOwn: (HTTPStatus) -> Bool) -> Bool {
        if let acceptsStatus { acceptsStatus(status) } else { loadersOwn(status) }
    }
}

private enum AcceptsStatusOption: HTTPRequestOption {
    static let defaultValue: (@Sendable (HTTPStatus) -> Bool)? = nil
}
