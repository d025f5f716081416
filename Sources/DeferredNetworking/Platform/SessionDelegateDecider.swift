import Foundation

#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

/// Forwards decisions to the delegate of the user's session, on that session's own queue.
///
/// On Linux, a delegate that doesn't implement a method answers through the protocol's default implementation, which
/// does the same as a transfer without a decider; otherwise, the engine's tasks never reach that delegate
/// (https://github.com/swiftlang/swift-corelibs-foundation/issues/5187). On Darwin, the methods are optional instead.
/// Test: `URLSessionTests`, "A session's own delegate decides on redirects and challenges".
struct SessionDelegateDecider: TransferDecider {
    private let session: URLSession
    private let delegate: any URLSessionTaskDelegate

    /// - Returns: nil when the session has no suitable delegate, or has been invalidated.
    init?(_ session: URLSession) {
        guard let delegate = session.delegate as? any URLSessionTaskDelegate else { return nil }
        self.session = session
        self.delegate = delegate
    }

    func decide(
        redirect response: HTTPURLResponse,
        of task: any EngineTask,
        proposal: URLRequest,
        answer: @escaping @Sendable (URLRequest?) -> Void
    ) {
        guard let task = (task as? SessionTask)?.platformTask else { return answer(proposal) }
        session.delegateQueue.addOperation { [session, delegate] in
            #if canImport(FoundationNetworking)
            delegate.urlSession(
                session,
                task: task,
                willPerformHTTPRedirection: response,
                newRequest: proposal,
                completionHandler: answer
            )
            #else
            guard let method = delegate.urlSession(_:task:willPerformHTTPRedirection:newRequest:completionHandler:)
            else { return answer(proposal) }
            method(session, task, response, proposal, answer)
            #endif
        }
    }

    func decide(
        challenge: URLAuthenticationChallenge,
        of task: any EngineTask,
        answer: @escaping ChallengeAnswer
    ) {
        guard let task = (task as? SessionTask)?.platformTask else { return answer(.performDefaultHandling, nil) }
        session.delegateQueue.addOperation { [session, delegate] in
            #if canImport(FoundationNetworking)
            delegate.urlSession(session, task: task, didReceive: challenge, completionHandler: answer)
            #else
            guard let method = delegate.urlSession(_:task:didReceive:completionHandler:)
            else { return answer(.performDefaultHandling, nil) }
            method(session, task, challenge, answer)
            #endif
        }
    }
}
