internal import DeferredNetworking
internal import Foundation

/// Follows redirects in the chain, by the rules of a ``DeferredNetworking/URLClient``.
///
/// ```swift
/// let chain = FollowRedirects() --> Cache(.memory()) --> URLSessionLoader()
/// ```
///
/// Without it, the client of the terminal loader follows redirects, and the loaders before see only the last response.
/// With it, each redirect is a request and a response of its own to the loaders after it, so that a ``DeferredCache/Cache`` stores them
/// under their own URLs, and a ``Log`` reports them. The client then follows none.
///
/// `301` and `302` turn a `POST` into a `GET`, `303` everything but `HEAD`; `307` and `308` keep method and body.
/// `Authorization`, `Cookie` and other headers that ``DeferredNetworking/Redaction`` takes for secrets don't cross
/// origins. The result is the response to the last request; a redirect beyond the limit fails with
/// ``HTTPError/Code/tooManyRedirects``, and one that would send a body that can be sent only once with
/// ``HTTPError/Code/bodyAlreadySent``. Cancelling the task cancels the request under way.
public struct FollowRedirects: HTTPLink, ArrangedLink {
    private let limit: Int

    /// Creates the loader.
    ///
    /// - Parameter limit: The maximum number of redirects for one request.
    public init(atMost limit: Int = 20) {
        self.limit = limit
    }

    /// Passes the task on, and follows the redirects that come back.
    public func load(_ task: HTTPTask, next: any HTTPLoader) {
        var request = task.request
        if request.redirection == .refused { return task.pass(to: next) }
        request.redirection = .followedByLoader
        load(request, for: task, from: next, count: 0)
    }

    private func load(_ request: HTTPRequest, for task: HTTPTask, from next: any HTTPLoader, count: Int) {
        task.send(request, to: next) { [self] result in
            // The URL of the request with which the environment may have completed it.
            guard let response = result.arrived, let url = response.url ?? response.request.url,
                let target = RedirectRules.target(response.status.code, in: response.headers, from: url)
            else {
                task.complete(with: result)
                return
            }
            response.stream?.cancel()
            guard count < limit else {
                task.fail(.tooManyRedirects, response: response)
                return
            }
            guard let following = Self.following(request, after: response, from: url, to: target) else {
                task.fail(.bodyAlreadySent, response: response, reason: HTTPBody.AlreadySent.reason)
                return
            }
            task.execution.later { load(following, for: task, from: next, count: count + 1) }
        }
    }

    /// Returns the request that follows a redirect; nil if its body can't be sent again.
    private static func following(
        _ request: HTTPRequest,
        after response: HTTPResponse,
        from url: URL,
        to target: URL
    ) -> HTTPRequest? {
        var result = request
        if RedirectRules.dropsBody(status: response.status.code, method: request.method.rawValue) {
            result.method = .get
            result.body = .empty
            result.headers.fields.removeAll { RedirectRules.describesBody($0.name.lowercased()) }
        } else if request.body.isOneShot {
            return nil
        }
        result.parts = URLParts(target)
        if Origin(of: url) != Origin(of: target) {
            let own = Set(request[OriginBoundFieldsOption.self].map { $0.lowercased() })
            result.headers.fields.removeAll { field in
                let name = field.name.lowercased()
                return own.contains(name) || RedirectRules.isBoundToOrigin(name)
            }
            result[OriginBoundFieldsOption.self] = []
        } else if response.request.parts.isHostOfEnvironment, let host = result.host {
            // An environment after this loader, or before it, has named the server, which gets its headers and credentials.
            result.parts.setHostOfEnvironment(host)
        }
        return result
    }
}

extension HTTPRequest {
    /// The part of a chain that follows the redirects of this request.
    enum Redirection: Sendable, Hashable {
        case followedByClient, followedByLoader

        /// Nobody: its body is for one server alone.
        case refused
    }

    var redirection: Redirection {
        get { self[RedirectionOption.self] }
        set { self[RedirectionOption.self] = newValue }
    }
}

private enum RedirectionOption: HTTPRequestOption {
    static let defaultValue = HTTPRequest.Redirection.followedByClient
}
