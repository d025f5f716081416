import Foundation

#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

/// Asks the delegate of the session that the user made, on that session's own queue.
///
/// On Linux a delegate that doesn't implement a method answers through the protocol's default implementation, which is what
/// a transfer does by itself; the carrier's tasks never reach that delegate otherwise
/// (https://github.com/swiftlang/swift-corelibs-foundation/issues/5187). On Darwin, methods are optional instead.
/// Test: `URLSessionTests`, "A session's own delegate decides on redirects and challenges".
struct SessionDelegateAdvisor: TransferAdvisor {
    private let session: URLSession
    private let delegate: any URLSessionTaskDelegate

    /// - Returns: nil when the session has no delegate that could be asked, or has been invalidated.
    init?(_ session: URLSession) {
        guard let delegate = session.delegate as? any URLSessionTaskDelegate else { return nil }
        self.session = session
        self.delegate = delegate
    }

    func consider(
        redirect response: HTTPURLResponse,
        of task: URLSessionTask,
        proposal: URLRequest,
        answer: @escaping @Sendable (URLRequest?) -> Void
    ) {
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

    func consider(
        challenge: URLAuthenticationChallenge,
        of task: URLSessionTask,
        answer: @escaping @Sendable (URLSession.AuthChallengeDisposition, URLCredential?) -> Void
    ) {
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
