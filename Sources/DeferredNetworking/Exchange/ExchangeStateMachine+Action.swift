import Foundation

#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

extension ExchangeStateMachine {
    /// A step of the current attempt, performed in the order in which it was decided.
    enum Action {
        /// Stores the cookies of a response. Decided by the exchange, which has their storage.
        case storeCookies(ResponseHead)

        /// Reports a challenge that is answered without asking.
        case reportChallenge(ResponseHead)
        case prepare(CheckedRequest, isNewAttempt: Bool)
        case startTask(CheckedRequest, Int)
        case cancelTask(Int)

        /// Lets the task that waits follow a redirect, or with nil take it as its response.
        case answerRedirect(CheckedRequest?)

        case askAboutRedirect(ResponseHead, proposal: URLRequest, round: Int)
        case askAboutChallenge(failures: Int, round: Int)
        case deliverInterim(ResponseHead)
        case deliverHead(ResponseHead, expected: Int64?)

        /// Bytes of a body, the number of those that have come with them, and the length of the body if it is known.
        case deliverBytes(Data, Int64, of: Int64?)
        case reportSent(Int64, step: Int64, of: Int64?)

        /// The response is complete. The request's body isn't.
        case deliverEnd(ResponseHead)
        case endAttempt(Result<ResponseHead, any Error>)

        /// The engine has nothing left of the request.
        case release
    }

    /// A step of the whole request, at most one for each event, performed at once: a cancellation waits for nobody.
    enum Step {
        /// Asks for the request's turn.
        case arrive

        /// Asks for it again, after a pause for which it was given up.
        case comeBack

        case ask(URLClient.Authentication.Challenge, round: Int)

        /// The error is the attempt's, unless it was a status that is accepted.
        case pause(Duration, attempt: Int, round: Int, (any Error)?)

        /// A stream begins: delivers the result, though the exchange goes on.
        case deliver(ReceivedResponse)

        /// The request is over, and so is a question or a pause: gives up its turn.
        case finish(Result<ReceivedResponse, any Error>)

        /// The stream that was delivered has ended, and the request with it.
        case finishStream((any Error)?)

        /// Gives up a turn that has come too late.
        case leave
    }
}
