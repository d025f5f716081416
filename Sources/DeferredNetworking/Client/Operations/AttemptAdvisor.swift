import Foundation

#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

/// Decides about redirects as the client's policy does. Challenges are the operation's: the 401 is delivered to it.
struct AttemptAdvisor: TransferAdvisor {
    let policy: URLClient.RedirectPolicy
    let journal: OperationJournal
    let watch: AttemptWatch

    func consider(
        redirect response: HTTPURLResponse,
        of task: URLSessionTask,
        proposal: URLRequest,
        answer: @escaping @Sendable (URLRequest?) -> Void
    ) {
        watch.noteActivity()
        let next = policy.decide(response, proposal)
        if let target = next?.url {
            journal.note(.redirected(response, to: target))
        }
        answer(next)
    }

    func consider(
        challenge: URLAuthenticationChallenge,
        of task: URLSessionTask,
        answer: @escaping @Sendable (URLSession.AuthChallengeDisposition, URLCredential?) -> Void
    ) {
        answer(.performDefaultHandling, nil)
    }
}
