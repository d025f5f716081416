internal import DeferredNetworking

/// Turns responses whose status isn't accepted into failures.
///
/// Without this loader, any response is a success, whatever its status. With it, a response whose status isn't accepted
/// fails with ``HTTPError/Code/unacceptableStatus``, and the error has the response.
///
/// Its place in the chain makes no difference to the other loaders: ``Retry``, ``BearerAuthentication`` and the like
/// look at the response of such an error as they look at any response.
///
/// ```swift
/// let chain = Validate() --> Retry() --> URLSessionLoader()
/// request.acceptsStatus = { $0.isSuccess || $0 == .notFound }
/// ```
public struct Validate: HTTPLink, ArrangedLink {
    private let accepts: @Sendable (HTTPStatus) -> Bool
    private let types: Set<String>

    /// Creates the loader.
    ///
    /// - Parameters:
    ///   - accepts: Returns true for accepted statuses of requests without an ``HTTPRequest/acceptsStatus``; by default,
    ///     those from 200 to 299.
    ///   - types: The accepted types of bodies, such as `application/json`, without parameters; empty for all. A response
    ///     of another type fails with ``HTTPError/Code/invalidResponse``, unless it has no body.
    public init(
        accepting accepts: @escaping @Sendable (HTTPStatus) -> Bool = \.isSuccess,
        types: Set<String> = []
    ) {
        self.accepts = accepts
        self.types = Set(types.map { $0.lowercased() })
    }

    /// Passes the task on, and checks the status of the response.
    public func load(_ task: HTTPTask, next: any HTTPLoader) {
        task.send(task.request, to: next) { [self] result in
            guard case .success(let response) = result, let error = refusal(of: response, to: task.request) else {
                task.complete(with: result)
                return
            }
            task.complete(with: .failure(error))
        }
    }

    /// Returns the error of a response that is not accepted.
    private func refusal(of response: HTTPResponse, to request: HTTPRequest) -> HTTPError? {
        guard request.accepts(response.status, orElse: accepts) else {
            return HTTPError(.unacceptableStatus, request: response.request, response: response)
        }
        if acceptsType(of: response) { return nil }
        let accepted = types.sorted().joined(separator: " or ")
        let reason =
            "the body has \(response.shownType) instead of \(accepted); name all that are right in Validate(types:)"
        return HTTPError(.invalidResponse, request: response.request, response: response, reason: reason)
    }

    private func acceptsType(of response: HTTPResponse) -> Bool {
        if types.isEmpty { return true }
        if let type = response.mediaType, types.contains(type) { return true }
        // RFC 9110, section 6.4.1: these have no content, also if they are delivered as a stream or a file.
        if response.request.method == .head || [.noContent, .notModified].contains(response.status) { return true }
        return response.stream == nil && response.file == nil && response.body.isEmpty
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
