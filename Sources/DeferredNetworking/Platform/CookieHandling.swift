import Foundation

#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

/// Requests that opt out of cookies.
///
/// swift-corelibs-foundation ignores `httpShouldHandleCookies`: it sends and stores the session's cookies regardless.
/// No issue is known upstream. Such requests go out on a session without a cookie storage. Test: `URLClientTests`, "a
/// request that wants no cookies neither sends nor stores any".
enum CookieHandling {
    /// Returns the configuration of the session without cookies, or nil if `request` can use `configuration`.
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
