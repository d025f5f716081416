#if canImport(FoundationNetworking)
import Foundation
import FoundationNetworking
#else
import Foundation
#endif

/// Observes an exchange, and decides about redirects and challenges. Without a delegate, as with one that decides nothing,
/// an exchange follows the redirects that its policy follows, and delivers a 401.
protocol ExchangeDelegate: AnyObject, Sendable {
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

    /// Called before the receiver gets a head.
    func received(head: ResponseHead)

    /// Called before the receiver gets bytes of a body, or a refused body does.
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

extension ExchangeDelegate {
    func willSend() {}
    func waitsForConnectivity() {}
    func noteActivity() {}
    var isMeasured: Bool { false }
    func measured(_ metrics: URLClient.Metrics) {}
    func received(head: ResponseHead) {}
    func received(_ count: Int) {}
    func sent(_ completed: Int64) {}

    func decide(
        redirect head: ResponseHead,
        of task: any EngineTask,
        proposal: URLRequest,
        answer: @escaping @Sendable (URLRequest?) -> Void
    ) {
        answer(proposal)
    }

    func decide(
        challenge: URLAuthenticationChallenge,
        of task: any EngineTask,
        answer: @escaping ChallengeAnswer
    ) {
        answer(.performDefaultHandling, nil)
    }
}
