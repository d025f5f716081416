import Foundation

#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

/// Requests that want nothing to do with cookies.
///
/// swift-corelibs-foundation ignores `httpShouldHandleCookies`: what the session's storage has is sent, and what comes is kept.
/// No issue is known upstream. Such requests go out on a session without a storage. Test: `URLClientTests`, "a request that
/// wants no cookies neither sends nor stores any".
enum CookieHandling {
    /// The configuration of that other session, or nil if `request` can go out on one with `configuration`.
    static func configurationWithoutCookies(
        for request: URLRequest,
        insteadOf configuration: URLSessionConfiguration
    ) -> URLSessionConfiguration? {
        #if canImport(FoundationNetworking)
        guard !request.httpShouldHandleCookies, configuration.httpCookieStorage != nil,
            let copy = configuration.copy() as? URLSessionConfiguration
        else { return nil }
        copy.httpCookieStorage = nil
        copy.httpShouldSetCookies = false
        copy.httpCookieAcceptPolicy = .never
        return copy
        #else
        return nil
        #endif
    }
}
