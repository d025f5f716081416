internal import DeferredNetworking

/// The way in which a ``DeferredCache/Cache`` may answer a request, in addition to the request's own `Cache-Control`.
public enum CachePolicy: Sendable, Hashable {
    /// Stored responses are used as the server and RFC 9111 allow.
    case standard

    /// The server is asked whether the stored response is still right, as with `Cache-Control: max-age=0`. Responses
    /// that are `immutable` are used without asking.
    case validate

    /// The server is asked in any case, as with `Cache-Control: no-cache`.
    case reload

    /// Only the cache answers. Without a response that may be used, the result is a response with the status 504.
    /// ``BearerAuthentication`` and ``OAuth`` don't wait for a token then.
    case onlyCached

    /// Only the cache answers, with a response of any age: for an app that is offline. Responses that the server forbids
    /// to use unasked, `no-cache` and `must-revalidate`, are used only while they are fresh; otherwise the status is 504.
    case anyAge

    /// The cache is passed by, as with `Cache-Control: no-store`: it neither answers nor stores.
    case bypass
}

extension HTTPRequest {
    /// The way in which a ``DeferredCache/Cache`` may answer this request. By default, as the standard says.
    public var cachePolicy: CachePolicy {
        get { self[CachePolicyOption.self] }
        set { self[CachePolicyOption.self] = newValue }
    }

    /// True if no server is to be asked.
    var isForCacheOnly: Bool {
        if cachePolicy == .onlyCached || cachePolicy == .anyAge { return true }
        guard let field = headers.combined("Cache-Control") else { return false }
        return FieldList.members(of: field).contains { $0.prefix { $0 != "=" }.lowercased() == "only-if-cached" }
    }
}

private enum CachePolicyOption: HTTPRequestOption {
    static let defaultValue = CachePolicy.standard
}

/// The name by which caches tell apart the users of one process. Here, since a client's cache is to see it, too.
package enum CachePartitionOption: HTTPRequestOption {
    package static let defaultValue: String? = nil
}
