internal import DeferredNetworking

/// Completes requests that have no host, so that a program can name its server in one place.
///
/// ```swift
/// let environment = HTTPEnvironment(host: "api.example.com", pathPrefix: "/v2", headers: ["Accept": "application/json"])
/// let chain = ApplyEnvironment(environment) --> URLSessionLoader()
/// chain.load(HTTPRequest(path: "/users"))  // https://api.example.com/v2/users
/// ```
///
/// A request with a host is passed on unchanged: the headers and the query of the environment may be secrets that are
/// meant only for its server. For the same reason, redirects to another origin don't carry these headers on. The parts
/// that the request itself has take precedence.
public struct ApplyEnvironment: HTTPLink, ArrangedLink {
    private let environment: Prepared

    /// Creates the loader.
    ///
    /// - Parameter environment: The environment for requests without an ``HTTPRequest/environment``.
    public init(_ environment: HTTPEnvironment) {
        self.environment = Prepared(environment)
    }

    /// Passes the completed request on.
    public func load(_ task: HTTPTask, next: any HTTPLoader) {
        let environment = task.request.environment.map(Prepared.init) ?? environment
        let hasHeaders = !environment.original.headers.isEmpty
        var request = task.request
        if request.host == nil {
            request.parts.apply(environment)
            if hasHeaders, request.parts.isHostOfEnvironment { request.addHeaders(of: environment) }
        } else if hasHeaders, request.parts.isHostOfEnvironment, request.parts.origin == environment.origin {
            // A further page, whose URL the server has named.
            request.addHeaders(of: environment)
        } else {
            return task.pass(to: next)
        }
        task.send(request, to: next)
    }
}

extension HTTPRequest {
    /// The environment for this request, which overrides that of ``ApplyEnvironment``; `nil` for the loader's.
    public var environment: HTTPEnvironment? {
        get { self[EnvironmentOption.self] }
        set { self[EnvironmentOption.self] = newValue }
    }

    fileprivate mutating func addHeaders(of environment: Prepared) {
        let own = headers
        headers.addMissing(from: environment.original.headers)
        self[OriginBoundFieldsOption.self] += headers.fields.dropFirst(own.count).map(\.name)
    }
}

extension URLParts {
    fileprivate mutating func apply(_ environment: Prepared) {
        // With another scheme, it may go without TLS, and gets nothing of what is for the environment.
        let isForEnvironment =
            scheme.map { ["https", environment.original.scheme.lowercased()].contains($0.lowercased()) } ?? true
        scheme = scheme ?? environment.original.scheme
        port = port ?? environment.original.port
        host = environment.original.host
        if isForEnvironment { setHostOfEnvironment(environment.original.host) }
        if path.isEmpty {
            path = environment.path
        } else if !environment.path.isEmpty {
            let endsWithSlash = environment.path.utf8.last == UInt8(ascii: "/")
            if path.utf8.first == UInt8(ascii: "/") {
                path = (endsWithSlash ? String(environment.path.dropLast()) : environment.path) + path
            } else {
                path = environment.path + (endsWithSlash ? "" : "/") + path
            }
        }
        guard let prefix = environment.query, isHostOfEnvironment else { return }
        query = query.map { $0.isEmpty ? prefix : prefix + "&" + $0 } ?? prefix
    }
}

/// An environment with its parts encoded, which is kept, and not copied for each request.
private final class Prepared: Sendable {
    let original: HTTPEnvironment
    let path: String
    /// The encoded query, never empty; `nil` for none.
    let query: String?

    var origin: Origin { Origin(scheme: original.scheme, host: original.host, port: original.port) }

    init(_ environment: HTTPEnvironment) {
        original = environment
        let parts = HTTPRequest(path: environment.pathPrefix, query: environment.query).parts
        path = parts.path
        query = parts.query.flatMap { $0.isEmpty ? nil : $0 }
    }
}

extension ApplyEnvironment: CustomReflectable {
    /// The environment's own description, so that `dump` does not reveal credentials.
    public var customMirror: Mirror { Mirror(self, children: ["environment": environment.original.description]) }
}

/// The names of the header fields that an environment has added.
enum OriginBoundFieldsOption: HTTPRequestOption {
    static let defaultValue: [String] = []
}

private enum EnvironmentOption: HTTPRequestOption {
    static let defaultValue: HTTPEnvironment? = nil
}
