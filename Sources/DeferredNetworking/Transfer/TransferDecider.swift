#if canImport(FoundationNetworking)
import Foundation
package import FoundationNetworking
#else
package import Foundation
#endif

/// Observes a transfer, and decides about redirects and challenges. Without a decider, as with one that decides nothing,
/// a transfer follows every redirect and delivers a 401.
package protocol TransferDecider: AnyObject, Sendable {
    /// Called before a task is resumed: the first one, or one after a redirect or a challenge.
    func willSend()

    /// Called when the task waits for a network to connect over.
    func waitsForConnectivity()

    /// Called when bytes arrived that aren't of the body, or not yet: of interim heads, header lines, or a coding. May be
    /// called beside the other methods.
    func noteActivity()

    /// True if ``measured(_:)`` has an effect.
    var isMeasured: Bool { get }

    /// Called when a task is about to end.
    func measured(_ metrics: URLClient.Metrics)

    /// Called before the sink gets a head.
    func received(head: ResponseHead)

    /// Called before the sink gets bytes of a body, or a refused body does.
    func received(_ count: Int)

    /// Called with the number of bytes of the request's body that were sent since the task was resumed.
    func sent(_ completed: Int64)

    /// - Parameters:
    ///   - proposal: the request to send if the redirect is followed.
    ///   - answer: takes the request to send, or nil to deliver the redirect. Only its first call counts.
    func decide(
        redirect head: ResponseHead,
        of task: any EngineTask,
        proposal: URLRequest,
        answer: @escaping @Sendable (URLRequest?) -> Void
    )

    /// - Parameter answer: takes the disposition, as in `URLSessionTaskDelegate`. Only its first call counts.
    func decide(
        challenge: URLAuthenticationChallenge,
        of task: any EngineTask,
        answer: @escaping ChallengeAnswer
    )
}

extension TransferDecider {
    package func willSend() {}
    package func waitsForConnectivity() {}
    package func noteActivity() {}
    package var isMeasured: Bool { false }
    package func measured(_ metrics: URLClient.Metrics) {}
    package func received(head: ResponseHead) {}
    package func received(_ count: Int) {}
    package func sent(_ completed: Int64) {}

    package func decide(
        redirect head: ResponseHead,
        of task: any EngineTask,
        proposal: URLRequest,
        answer: @escaping @Sendable (URLRequest?) -> Void
    ) {
        answer(proposal)
    }

    package func decide(
        challenge: URLAuthenticationChallenge,
        of task: any EngineTask,
        answer: @escaping ChallengeAnswer
    ) {
        answer(.performDefaultHandling, nil)
    }
}
