import Foundation

#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

/// One transfer, from the first request over any number of redirects and challenges to its one result.
///
/// A redirect or a challenge is never answered to the platform. It is recorded, its task is cancelled, and when that task
/// has completed, the next request goes out as a task of its own. Everything about tasks other than the current one is late
/// news and ignored.
struct TransferStateMachine {
    enum State {
        case idle

        /// A task for the current request was asked for, and is not there yet.
        case creating

        case running(Exchange)

        /// The task was cancelled by this machine, and its completion is awaited.
        case stopping(Exchange, Stop)

        /// Somebody was asked what to do next. No task exists.
        case deciding(Question)

        /// The result was given. What remains on the platform's side is cleared away.
        case finished(Remainder)
    }

    /// One request and what has arrived for it.
    struct Exchange {
        let task: Int
        var response: URLResponse?
        var received: Int64 = 0
        var expected: Int64?
        var sent: Int64 = 0
    }

    /// Why a task was cancelled by this machine.
    enum Stop {
        case redirect(HTTPURLResponse)
        case challenge
        case rewind
    }

    /// What was asked. The round tells a second answer to an earlier question from the answer to this one.
    enum Question {
        case redirect(HTTPURLResponse, TransferRequest, round: Int)
        case challenge(URLResponse?, round: Int)
    }

    enum Remainder: Equatable {
        case nothing
        case creation
        case task(Int)
    }

    enum Answer: Sendable {
        case follow(URLRequest)
        case authenticate(user: String, password: String)
        case deliver
        case fail(URLError)
    }

    enum Action {
        case createTask(TransferRequest)
        case resumeTask(Int)
        case cancelTask(Int)
        case askAboutRedirect(HTTPURLResponse, proposal: URLRequest, round: Int)
        case askAboutChallenge(failures: Int, round: Int)
        case deliverHead(URLResponse)
        case deliverBytes(Data)
        case reportProgress(received: Int64, expected: Int64?)
        case reportSent(Int64, expected: Int64?)
        case finish(Result<URLResponse, any Error>)

        /// Nothing of this transfer is left on the platform's side.
        case release
    }

    var state = State.idle
    var request: TransferRequest
    let redirectLimit: Int

    /// The URLs that redirected, in order.
    var chain: [URL] = []
    var round = 0
    var credentials: Set<String> = []

    init(request: TransferRequest, redirectLimit: Int = RedirectRules.hopLimit) {
        self.request = request
        self.redirectLimit = redirectLimit
    }
}
