import Foundation

#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

/// Copies configurations without the parts that crash the process on Linux.
///
/// With a `URLCache`, cancelling traps in the task registry
/// (https://github.com/swiftlang/swift-corelibs-foundation/issues/3292), and cached responses are looked up without the
/// query; with a credential storage, a 401 can hang (#5456). Test: `URLSessionTests`, "Cancelling thousands of
/// transfers on a session with a cache ends each of them once".
enum SafeConfiguration {
    /// True if a response may come from a cache.
    static var keepsCache: Bool { !SessionPlatform.isCorelibs }

    /// Returns a copy to create a session from, without the additional headers: see ``headers(of:)``.
    static func copy(of configuration: URLSessionConfiguration) -> URLSessionConfiguration {
        let copy = configuration.copy() as? URLSessionConfiguration ?? .ephemeral
        #if canImport(FoundationNetworking)
        copy.urlCache = nil
        copy.urlCredentialStorage = nil
        copy.timeoutIntervalForRequest = TimeoutRounding.repaired(configuration.timeoutIntervalForRequest)
        #endif
        copy.httpAdditionalHeaders = nil
        return copy
    }

    /// Returns the additional headers of a configuration. Names and values of other types than strings are converted,
    /// because they trap when a task is created.
    static func headers(of configuration: URLSessionConfiguration) -> [String: String] {
        var headers: [String: String] = [:]
        for (name, value) in configuration.httpAdditionalHeaders ?? [:] {
            headers[String(describing: name)] = String(describing: value)
        }
        return headers
    }

    private static let platformClasses = Set(
        (URLSessionConfiguration.default.protocolClasses ?? []).map { ObjectIdentifier($0) }
    )

    /// Returns the reason why requests with this configuration can't go out over libcurl, or nil.
    ///
    /// Settings that `URLSession` on Linux ignores as well are no reason.
    static func reasonForSession(_ configuration: URLSessionConfiguration) -> String? {
        let classes =
            configuration.protocolClasses?.count {
                // Looked up first, since this is asked for each request.
                !platformClasses.contains(ObjectIdentifier($0))
                    && !String(reflecting: $0).hasPrefix("FoundationNetworking.")
            } ?? 0
        guard classes > 0 else { return nil }
        return "protocolClasses has \(classes) class\(classes == 1 ? "" : "es")"
    }
}
