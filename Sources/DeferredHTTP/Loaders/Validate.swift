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
public struct Validate: HTTPLink {
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
        task.send(task.request, to: next) { [accepts, types] result in
            guard case .success(let response) = result else { return _ = task.complete(with: result) }
            guard task.request.accepts(response.status, orElse: accepts) else {
                let error = HTTPError(.unacceptableStatus, request: response.request, response: response)
                task.complete(with: .failure(error))
                return
            }
            guard types.isEmpty || Self.accepts(response, types) else {
                let (request, reason) = (response.request, Self.reason(response, types))
                task.complete(
                    with: .failure(HTTPError(.invalidResponse, request: request, response: response, reason: reason))
                )
                return
            }
            task.complete(with: result)
        }
    }

    private static func accepts(_ response: HTTPResponse, _ types: Set<String>) -> Bool {
        if let type = response.mediaType, types.contains(type) { return true }
        // RFC 9110, section 6.4.1: these have no content, also if they are delivered as a stream or a file.
        if response.request.method == .head || [.noContent, .notModified].contains(response.status) { return true }
        return response.stream == nil && response.file == nil && response.body.isEmpty
    }

    private static func reason(_ response: HTTPResponse, _ types: Set<String>) -> String {
        let accepted = types.sorted().joined(separator: " or ")
        return "the body has \(response.shownType) instead of \(accepted); name all that are right in Validate(types:)"
    }
}

extension Validate: ArrangedLink {}

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
