import Foundation

#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

/// Cookies over sessions.
///
/// swift-corelibs-foundation sends secure cookies without TLS and those of other paths, keeps cookies that are to be
/// deleted, and ignores `httpShouldHandleCookies`. No issue is known upstream. There, sessions have no cookies, and
/// transfers send and store them. Tests: `URLClientTests`, "Cookies".
extension CookieJar {
    /// Takes the cookies from a configuration whose sessions can't handle them.
    static func take(from configuration: URLSessionConfiguration) -> CookieJar? {
        guard SessionPlatform.isCorelibs else { return nil }
        defer {
            configuration.httpCookieStorage = nil
            configuration.httpShouldSetCookies = false
            configuration.httpCookieAcceptPolicy = .never
        }
        return CookieJar(configuration)
    }

    /// The cookies of a session, if it has any.
    init?(_ configuration: URLSessionConfiguration) {
        guard let storage = configuration.httpCookieStorage else { return nil }
        self.init(
            storage,
            policy: configuration.httpCookieAcceptPolicy,
            isSending: configuration.httpShouldSetCookies
        )
    }
}
