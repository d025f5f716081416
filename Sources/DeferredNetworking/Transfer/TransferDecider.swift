#if canImport(FoundationNetworking)
import Foundation
package import FoundationNetworking
#else
package import Foundation
#endif

/// Decides whether a redirect is followed and how a challenge is met. A transfer without one follows every redirect, and
/// delivers the 401.
package protocol TransferDecider: Sendable {
    /// A task is about to be resumed: the first one, or one after a redirect or a challenge.
    func willSend()

    /// The task waits for a network to connect over.
    func waitsForConnectivity()

    /// A task is about to end.
    func measured(_ metrics: URLClient.Metrics)

    /// - Parameters:
    ///   - proposal: what will be sent if it is the answer.
    ///   - answer: takes the request to send, or nil to deliver the redirect. Only its first call counts.
    func decide(
        redirect response: HTTPURLResponse,
        of task: any EngineTask,
        proposal: URLRequest,
        answer: @escaping @Sendable (URLRequest?) -> Void
    )

    /// - Parameter answer: what to do, as in `URLSessionTaskDelegate`. Only its first call counts.
    func decide(
        challenge: URLAuthenticationChallenge,
        of task: any EngineTask,
        answer: @escaping ChallengeAnswer
    )
}

extension TransferDecider {
    package func willSend() {}
    package func waitsForConnectivity() {}
    package func measured(_ metrics: URLClient.Metrics) {}
}
