import Foundation

#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

/// The answer to a redirect, for tasks that can go on after one.
///
/// swift-corelibs-foundation traps on answers (see ``SessionDelegate``). On Apple's platforms the task follows the
/// redirect, and keeps its connections, its metrics and its identity. CFNetwork also counts redirects, and may end a
/// task at its own limit before ours is reached, with the same code. Test: `URLSessionTests`, "a redirected task is
/// still the same".
enum RedirectHandling {
    /// - Parameter proposal: The request that the platform proposes.
    static func answer(
        _ completionHandler: @escaping RedirectAnswer,
        _ proposal: URLRequest
    ) -> RedirectAnswer? {
        if SessionPlatform.isCorelibs { return nil }
        return { next in completionHandler(next.map { combine($0, with: proposal) }) }
    }

    /// Returns the request to send, with the facts that only the platform knows: that the body is a file, in a request
    /// that does not say so itself.
    static func combine(_ next: URLRequest, with proposal: URLRequest) -> URLRequest {
        guard next.httpBody == nil, next.httpBodyStream == nil, next.httpMethod == proposal.httpMethod,
            ![nil, "GET", "HEAD"].contains(next.httpMethod)
        else { return next }
        var result = proposal
        result.url = next.url
        result.allHTTPHeaderFields = next.allHTTPHeaderFields
        result.timeoutInterval = next.timeoutInterval
        result.cachePolicy = next.cachePolicy
        return result
    }
}
