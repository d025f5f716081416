internal import DeferredCore
import Foundation
import Synchronization

#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

extension Transfer {
    func ask(about response: HTTPURLResponse, proposal: URLRequest, round: Int) {
        let (advisor, task) = state.withLock { ($0.advisor, $0.task) }
        guard let advisor, let task else {
            return handle { $0.answered(.follow(proposal), round: round) }
        }
        advisor.consider(redirect: response, of: task, proposal: proposal) { request in
            self.handle { $0.answered(request.map { .follow($0) } ?? .deliver, round: round) }
        }
    }

    func askAboutChallenge(failures: Int, round: Int) {
        let (advisor, task, challenge) = state.withLock { ($0.advisor, $0.task, $0.challenge.take()) }
        guard let advisor, let task, let challenge else {
            return handle { $0.answered(.deliver, round: round) }
        }
        let counted = ChallengeHandling.challenge(challenge, failures: failures)
        advisor.consider(challenge: counted, of: task) { disposition, credential in
            let answer = Self.answer(disposition, credential, url: task.originalRequest?.url)
            self.handle { $0.answered(answer, round: round) }
        }
    }

    /// Lets the advisor answer the platform directly.
    func forward(
        _ challenge: URLAuthenticationChallenge,
        of task: URLSessionTask,
        answer: @escaping @Sendable (URLSession.AuthChallengeDisposition, URLCredential?) -> Void
    ) {
        guard let advisor = state.withLock({ $0.advisor }) else { return answer(.performDefaultHandling, nil) }
        advisor.consider(challenge: challenge, of: task, answer: answer)
    }

    private static func answer(
        _ disposition: URLSession.AuthChallengeDisposition,
        _ credential: URLCredential?,
        url: URL?
    ) -> TransferStateMachine.Answer {
        switch disposition {
        case .useCredential:
            guard let user = credential?.user, let password = credential?.password else { return .deliver }
            return .authenticate(user: user, password: password)
        case .cancelAuthenticationChallenge:
            return .fail(URLError(.userCancelledAuthentication, failing: url))
        case .performDefaultHandling, .rejectProtectionSpace:
            return .deliver
        @unknown default:
            return .deliver
        }
    }
}
