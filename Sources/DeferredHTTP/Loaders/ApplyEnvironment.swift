/// Completes requests that have no host of their own, so that a program can name its server in one place.
///
/// ```swift
/// let environment = HTTPEnvironment(host: "api.example.com", pathPrefix: "/v2", headers: ["Accept": "application/json"])
/// let chain = ApplyEnvironment(environment) --> URLSessionLoader()
/// chain.load(HTTPRequest(path: "/users"))  // https://api.example.com/v2/users
/// ```
///
/// A request with a host is passed on as it is: the headers and the query of the environment may be secrets of the
/// server that they are meant for. What the request says itself takes precedence.
public struct ApplyEnvironment: HTTPLink {
    /// The next loader, set by `-->`.
    public var next: (any HTTPLoader)?
    private let environment: HTTPEnvironment

    /// Creates the loader.
    ///
    /// - Parameter environment: For requests without an ``HTTPRequest/environment`` of their own.
    public init(_ environment: HTTPEnvironment) {
        self.environment = environment
    }

    /// Passes the completed request on.
    public func load(_ task: HTTPTask) {
        guard task.request.host == nil else { return task.pass(to: next) }
        var request = task.request
        request.apply(request.environment ?? environment)
        task.pass(request, to: next)
    }
}

extension HTTPRequest {
    /// Where this request goes instead of where ``ApplyEnvironment`` would send it; `nil` for there.
    public var environment: HTTPEnvironment? {
        get { self[EnvironmentOption.self] }
        set { self[EnvironmentOption.self] = newValue }
    }

    fileprivate mutating func apply(_ environment: HTTPEnvironment) {
        host = environment.host
        scheme = scheme ?? environment.scheme
        port = port ?? environment.port
        var whole = HTTPRequest(path: environment.pathPrefix, query: environment.query)
        if whole.parts.path.hasSuffix("/"), parts.path.hasPrefix("/") { whole.parts.path.removeLast() }
        let needsSlash =
            !whole.parts.path.isEmpty && !whole.parts.path.hasSuffix("/")
            && !parts.path.isEmpty && !parts.path.hasPrefix("/")
        parts.path = whole.parts.path + (needsSlash ? "/" : "") + parts.path
        let queries = [whole.parts.query, parts.query].compactMap(\.self).filter { !$0.isEmpty }
        if !queries.isEmpty { parts.query = queries.joined(separator: "&") }
        headers.addMissing(from: environment.headers)
    }
}

private enum EnvironmentOption: HTTPRequestOption {
    static let defaultValue: HTTPEnvironment? = nil
}
