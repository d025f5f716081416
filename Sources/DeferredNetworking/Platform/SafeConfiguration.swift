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
    static var keepsCache: Bool {
        #if canImport(FoundationNetworking)
        false
        #else
        true
        #endif
    }

    /// Returns a copy to create a session from, and the headers that were removed from it.
    static func copy(
        of configuration: URLSessionConfiguration
    ) -> (configuration: URLSessionConfiguration, headers: [String: String]) {
        let copy = configuration.copy() as? URLSessionConfiguration ?? .ephemeral
        #if canImport(FoundationNetworking)
        copy.urlCache = nil
        copy.urlCredentialStorage = nil
        copy.timeoutIntervalForRequest = TimeoutRounding.repaired(configuration.timeoutIntervalForRequest)
        #endif
        // Names and values of other types trap when a task is created, so they are converted here.
        var headers: [String: String] = [:]
        for (name, value) in configuration.httpAdditionalHeaders ?? [:] {
            headers[String(describing: name)] = String(describing: value)
        }
        copy.httpAdditionalHeaders = nil
        return (copy, headers)
    }
}
