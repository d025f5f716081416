internal import DeferredHTTP
internal import DeferredNetworking
internal import Foundation

/// Tells what a cache has done with a request, as a member of the field `Cache-Status`: RFC 9211.
struct CacheStatus: Sendable {
    /// The reason for which a request goes to the server: section 2.2.
    enum Forwarding: String, Sendable {
        case bypass, method, request, stale, partial
        case unknownURL = "uri-miss"
        case otherVariant = "vary-miss"

        /// - Parameters:
        ///   - head: The stored response that matches the request.
        ///   - isKnown: Whether any response is stored for its URL.
        init?(_ decision: ReuseRules.Decision, _ head: StoredHead?, isKnown: Bool, at now: CacheInstant) {
            switch decision {
            case .reuse, .unavailable:
                return nil
            case .complete:
                self = .partial
            case .validate, .forward:
                guard let head else {
                    self = isKnown ? .otherVariant : .unknownURL
                    return
                }
                let isStale = head.staleness(at: now) >= 0 || head.directives.flags.contains(.noCache)
                self = isStale ? .stale : head.extent.isWhole ? .request : .partial
            }
        }
    }

    /// The cache's.
    let name: String
    /// `nil` if the request has not been sent.
    var forwarding: Forwarding?
    /// True if the response was fetched for an equal request.
    var isCollapsed = false
    var isStored = false

    /// - Parameter timeLeft: The milliseconds for which a stored response is still fresh.
    func member(_ response: HTTPResponse, timeLeft: Int64?) -> String {
        var parts = [Self.item(name)]
        if let forwarding {
            parts.append("fwd=\(forwarding.rawValue)")
            if case .validated = response.source { parts.append("fwd-status=\(forwarding == .partial ? 206 : 304)") }
            if isStored { parts.append("stored") }
        } else if isCollapsed {
            parts += ["fwd=\(Forwarding.unknownURL.rawValue)", "collapsed"]
        } else {
            parts.append("hit")
        }
        // An integer of a field has at most fifteen digits.
        if let timeLeft { parts.append("ttl=\(max(timeLeft / 1_000, -999_999_999_999_999))") }
        switch response.staleReason {
        case .error: parts.append("detail=stale-if-error")
        case .revalidation: parts.append("detail=stale-while-revalidate")
        case .asked, .fetched, nil: break
        }
        return parts.joined(separator: "; ")
    }

    /// A token, or else a string: RFC 8941, sections 3.3.3 and 3.3.4.
    private static func item(_ name: String) -> String {
        if HTTPToken.isValid(name), let first = name.first, first.isLetter { return name }
        return FieldList.quoted(name)
    }
}
