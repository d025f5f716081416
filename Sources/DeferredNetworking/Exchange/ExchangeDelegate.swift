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

    /// Called with events: ``EngineEvent/activity`` (also for an interim head), ``EngineEvent/waiting`` and
    /// ``EngineEvent/measured(_:)`` when they come, beside other calls; ``EngineEvent/sent(_:of:)``; and
    /// ``EngineEvent/head(_:)`` and ``EngineEvent/bytes(_:)`` before the receiver gets them, or a refused body does.
    func note(_ event: EngineEvent)

    /// True if ``EngineEvent/measured(_:)`` has an effect.
    var isMeasured: Bool { get }

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
    func note(_ event: EngineEvent) {}
    var isMeasured: Bool { false }

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
