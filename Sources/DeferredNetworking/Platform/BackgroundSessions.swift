import Foundation

#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

/// Sessions whose transfers outlive the process.
///
/// Background sessions run only uploads and downloads of files; other tasks raise an exception, which nobody can catch.
/// A future doesn't outlive its process. Only Apple's platforms have them. Test: `BackgroundSessionsTests`.
enum BackgroundSessions {
    static func refuse(_ configuration: URLSessionConfiguration) throws(URLClientError) {
        #if !canImport(FoundationNetworking)
        if let identifier = configuration.identifier { throw refusal(of: identifier) }
        #endif
    }

    static func refusal(of identifier: String) -> URLClientError {
        .engineUnavailable(
            reason:
                "the session \(DisplayText.quoted(identifier)) is a background session, whose transfers outlive "
                + "the process and its tasks; use another configuration, or the session's own methods"
        )
    }
}
