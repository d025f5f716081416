import Foundation

#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

/// Forwards decisions to the users' delegates, on the queue of the user's session: first to the delegate that
/// `configure` gave the task, then to the session's own.
///
/// On Linux, a delegate that doesn't implement a method answers through the protocol's default implementation, which
/// does the same as an exchange without a delegate; otherwise, the engine's tasks never reach that delegate
/// (https://github.com/swiftlang/swift-corelibs-foundation/issues/5187). On Darwin, the methods are optional instead,
/// and challenges about a connection go to another method, the only one that many pinning delegates implement.
/// Tests: `URLSessionTests`, "A session's own delegate decides on redirects and challenges" and those next to it.
final class SessionDelegateDecider: ExchangeDelegate {
    /// Kept by `keptSession` if a delegate may be asked; otherwise, its user may release it while the exchange runs.
    private weak let session: URLSession?
    private let keptSession: URLSession?

    /// Kept separately, since an invalidated session has released its delegate.
    let sessionDelegate: (any URLSessionDelegate)?

    /// - Parameter configures: True if the tasks may get delegates of their own.
    init(_ session: URLSession, configures: Bool = false) {
        self.session = session
        sessionDelegate = session.delegate
        keptSession = sessionDelegate == nil && !configures ? nil : session
    }

    func decide(
        redirect head: ResponseHead,
        of task: any EngineTask,
        proposal: URLRequest,
        answer: @escaping @Sendable (URLRequest?) -> Void
    ) {
        guard let session, let task = task as? SessionTask, let delegate = delegate(of: task, for: .redirect),
            let platformTask = task.platformTask
        else { return answer(proposal) }
        let response = head.httpURLResponse
        session.delegateQueue.addOperation {
            #if canImport(FoundationNetworking)
            delegate.urlSession(
                session,
                task: platformTask,
                willPerformHTTPRedirection: response,
                newRequest: proposal,
                completionHandler: answer
            )
            #else
            delegate.urlSession?(
                session,
                task: platformTask,
                willPerformHTTPRedirection: response,
                newRequest: proposal,
                completionHandler: answer
            )
            #endif
        }
    }

    func decide(
        challenge: URLAuthenticationChallenge,
        of task: any EngineTask,
        answer: @escaping ChallengeAnswer
    ) {
        guard let session, let task = task as? SessionTask else { return answer(.performDefaultHandling, nil) }
        #if !canImport(FoundationNetworking)
        if task.givenDelegate?.urlSession(_:task:didReceive:completionHandler:) == nil,
            ChallengeHandling.isAboutConnection(challenge),
            let delegate = sessionDelegate, delegate.urlSession(_:didReceive:completionHandler:) != nil
        {
            return session.delegateQueue.addOperation {
                delegate.urlSession?(session, didReceive: challenge, completionHandler: answer)
            }
        }
        #endif
        guard let delegate = delegate(of: task, for: .challenge), let platformTask = task.platformTask
        else { return answer(.performDefaultHandling, nil) }
        session.delegateQueue.addOperation {
            #if canImport(FoundationNetworking)
            delegate.urlSession(session, task: platformTask, didReceive: challenge, completionHandler: answer)
            #else
            delegate.urlSession?(session, task: platformTask, didReceive: challenge, completionHandler: answer)
            #endif
        }
    }

    private enum Question {
        case redirect, challenge
    }

    /// Returns the first of the delegates that can answer.
    private func delegate(of task: SessionTask, for question: Question) -> (any URLSessionTaskDelegate)? {
        let delegates = [task.givenDelegate, sessionDelegate as? any URLSessionTaskDelegate].compactMap { $0 }
        return delegates.first { delegate in
            #if canImport(FoundationNetworking)
            true
            #else
            switch question {
            case .redirect:
                delegate.urlSession(_:task:willPerformHTTPRedirection:newRequest:completionHandler:) != nil
            case .challenge:
                delegate.urlSession(_:task:didReceive:completionHandler:) != nil
            }
            #endif
        }
    }
}
