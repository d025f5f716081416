#if canImport(FoundationNetworking)
import Foundation
package import FoundationNetworking
#else
package import Foundation
#endif

/// Who is asked before a redirect is followed or a challenge is met. A transfer without one follows every redirect, and
/// delivers the 401.
package protocol TransferAdvisor: Sendable {
    /// - Parameters:
    ///   - proposal: what will be sent if it is the answer.
    ///   - answer: takes the request to send, or nil to deliver the redirect. Only its first call counts.
    func consider(
        redirect response: HTTPURLResponse,
        of task: URLSessionTask,
        proposal: URLRequest,
        answer: @escaping @Sendable (URLRequest?) -> Void
    )

    /// - Parameter answer: what to do, as in `URLSessionTaskDelegate`. Only its first call counts.
    func consider(
        challenge: URLAuthenticationChallenge,
        of task: URLSessionTask,
        answer: @escaping @Sendable (URLSession.AuthChallengeDisposition, URLCredential?) -> Void
    )
}
