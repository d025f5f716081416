import Foundation

#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

/// A request, from its admission through any number of attempts, redirects and challenges to its end.
///
/// An attempt is one way to an outcome, with all redirects and all tasks that it needs. A redirect or a challenge that a
/// task does not wait for is recorded, the task is cancelled, and when it has ended, a new one sends the next request.
/// The round tells late events and answers from those that count: it numbers attempts, tasks, questions and pauses.
struct ExchangeStateMachine {
    enum State {
        /// The request has not asked for its turn.
        case new

        /// The request waits for its turn, for the first time or after a pause.
        case queued

        /// An attempt begins: its receiver is asked for the request to send.
        case preparing

        /// A task sends the request, and receives the response.
        case running(Run)

        /// The task was cancelled by this machine, and its end is awaited.
        case stopping(Run, Stop)

        /// Somebody was asked about a redirect, and the task waits for the answer.
        case holding(Run, Question)

        /// Somebody was asked what to do next. No task runs.
        case deciding(Question)

        /// The attempt has ended. Its receiver is about to be asked for the outcome, or the policies are.
        case judging

        /// The receiver makes the outcome. A cancellation waits for that: if the outcome is a success, it came too late, since
        /// a file may be in its place by now.
        case finishing

        /// A credential was asked for. Without one, this outcome is the result.
        case asking(Outcome)

        /// The next attempt waits for its time.
        case pausing

        case ended
    }

    /// A task, and the response received for it so far.
    struct Run {
        /// The most interim heads that are delivered.
        static let mostInterim = 16

        let task: Int
        var interimCount = 0
        var head: ResponseHead?
        var received: Int64 = 0
        var expected: Int64?
        var sent: Int64 = 0
    }

    /// The reason why this machine cancelled a task.
    enum Stop {
        case redirect(ResponseHead)
        case challenge
        case rewind
    }

    /// A question of the current round.
    enum Question {
        case redirect(ResponseHead, proposal: URLRequest, CheckedRequest.Body)
        case challenge(ResponseHead?)
    }

    enum Answer: Sendable {
        case follow(URLRequest)
        case authenticate(user: String, password: String)
        case deliver
        case fail(any Error)
    }

    /// The outcome of an attempt.
    struct Outcome: Sendable {
        var result: Result<ReceivedResponse, any Error>

        /// The last head that arrived, whatever the result.
        var head: ResponseHead?

        var error: (any Error)? {
            if case .failure(let error) = result { error } else { nil }
        }
    }

    /// The maximum number of credentials per request, in case the closure always offers another one.
    private static var challengeLimit: Int { 5 }

    var state = State.new
    var round = 0

    /// The request as it was checked, with the credential of the attempt, and as it was last sent.
    private let original: CheckedRequest
    private var authorized: CheckedRequest
    var request: CheckedRequest
    private let policies: RequestPolicies
    let redirectLimit: Int
    private let authenticates: Bool

    private var attempts = 0

    /// The number of attempts that ended in a challenge. They don't count as attempts of the retry policy.
    private var challenges = 0
    private var credential: URLClient.Credential?
    private var refused: [URLClient.Credential] = []

    /// The number of tasks that have not ended, also of earlier attempts.
    var tasks = 0

    /// The URLs that redirected, and the credentials that were tried, in the current attempt.
    var chain: [URL] = []
    var credentials: Set<String> = []

    /// The last head of the current attempt.
    var lastHead: ResponseHead?

    /// The error with which the request was cancelled.
    private var cancellation: (any Error)?

    /// True once a stream was delivered as the result.
    private var isDelivered = false

    init(
        _ request: CheckedRequest,
        _ policies: RequestPolicies = .none,
        redirectLimit: Int = RedirectRules.hopLimit
    ) {
        (original, authorized, self.request) = (request, request, request)
        self.policies = policies
        self.redirectLimit = redirectLimit
        let isFree = request.value(of: "Authorization") == nil
        authenticates = isFree && policies.authentication.answer != nil
        credential = isFree ? policies.authentication.preemptive : nil
    }

    var hasEnded: Bool { if case .ended = state { true } else { false } }

    /// Returns true for the task of the current request.
    func isCurrent(_ task: Int) -> Bool {
        switch state {
        case .running(let run), .stopping(let run, _), .holding(let run, _): run.task == task
        case .new, .queued, .preparing, .deciding, .judging, .finishing, .asking, .pausing, .ended: false
        }
    }

    // MARK: The request

    /// Asks for the request's turn, unless a deadline has expired before.
    mutating func begin() -> Reaction {
        guard case .new = state else { return Reaction() }
        state = .queued
        return Reaction(steps: [.arrive])
    }

    /// Handles the request's turn.
    mutating func admitted() -> Reaction {
        switch state {
        case .queued: return startAttempt()
        // It may have left before it arrived: then this is the only place that gives up its turn.
        case .ended: return Reaction(steps: [.leave])
        case .new, .preparing, .running, .stopping, .holding, .deciding, .judging, .finishing, .asking, .pausing:
            return Reaction()
        }
    }

    /// Ends the request for a cancellation, a deadline or a shutdown, unless it has ended already.
    mutating func cancel(with error: any Error) -> Reaction {
        var reaction = Reaction()
        switch state {
        case .ended: return reaction
        case .finishing:
            cancellation = cancellation ?? error
            return reaction
        case .new, .queued, .judging: break
        case .preparing, .stopping, .deciding: reaction.actions = [.endAttempt(.failure(error))]
        case .running(let run):
            reaction.actions = [.endAttempt(.failure(error)), .cancelTask(run.task)]
        case .holding(let run, _):
            reaction.actions = [.endAttempt(.failure(error)), .cancelTask(run.task), .answerRedirect(nil)]
        case .asking, .pausing: reaction.steps = [.stop]
        }
        cancellation = error
        return end(isDelivered ? .finishStream(error) : .finish(.failure(error)), after: reaction)
    }

    private mutating func end(_ step: Step, after reaction: Reaction = Reaction()) -> Reaction {
        var reaction = reaction
        state = .ended
        reaction.steps += [step, .leave]
        if tasks == 0 { reaction.actions.append(.release) }
        return reaction
    }

    /// Handles the delivery of a stream's head as the result.
    mutating func delivered(_ response: ReceivedResponse) -> Reaction {
        guard !hasEnded, !isDelivered else { return Reaction() }
        isDelivered = true
        return Reaction(steps: [.deliver(response)])
    }

    /// Handles the answer to the question for a credential.
    mutating func answered(_ answer: Result<URLClient.Credential?, any Error>, round: Int) -> Reaction {
        guard round == self.round, case .asking(let outcome) = state else { return Reaction() }
        switch answer {
        case .success(let new?) where !refused.contains(new):
            credential = new
            return startAttempt()
        case .success:
            return end(.finish(outcome.result))
        case .failure(let error):
            return end(.finish(.failure(error)))
        }
    }

    mutating func pauseEnded(round: Int) -> Reaction {
        guard round == self.round, case .pausing = state else { return Reaction() }
        guard policies.retries.yieldsPlace else { return startAttempt() }
        state = .queued
        return Reaction(steps: [.comeBack])
    }

    // MARK: Attempts

    private mutating func startAttempt() -> Reaction {
        attempts += 1
        (chain, credentials, lastHead) = ([], [], nil)
        state = .preparing
        authorized = original
        do throws(URLClientError) {
            if let credential { authorized = try original.authorized(by: credential.field()) }
            return Reaction(actions: [.prepare(authorized, isNewAttempt: true)])
        } catch {
            return end(.finish(.failure(error)))
        }
    }

    /// Handles the request that the receiver wants to be sent in this attempt, and returns the number of its task.
    mutating func prepared(_ request: CheckedRequest) -> Int? {
        guard case .preparing = state else { return nil }
        return start(request)
    }

    mutating func start(_ next: CheckedRequest) -> Int {
        request = next
        round += 1
        tasks += 1
        state = .running(Run(task: round))
        return round
    }

    /// Ends the attempt with `error`, if there is one: for a deadline, or when the receiver throws.
    mutating func abort(with error: any Error) -> [Action] {
        switch state {
        case .preparing, .stopping, .deciding:
            return judge(.failure(error))
        case .running(let run):
            return judge(.failure(error)) + [.cancelTask(run.task)]
        case .holding(let run, _):
            return judge(.failure(error)) + [.cancelTask(run.task), .answerRedirect(nil)]
        case .new, .queued, .judging, .finishing, .asking, .pausing, .ended:
            return []
        }
    }

    mutating func judge(_ result: Result<ResponseHead, any Error>) -> [Action] {
        state = .judging
        return [.endAttempt(result)]
    }

    /// Lets the receiver make the outcome, or returns the error with which the request was cancelled meanwhile.
    mutating func finishes() -> (any Error)? {
        if case .judging = state { state = .finishing }
        return cancellation
    }

    /// Begins the attempt once more, because its receiver wants another request to be sent.
    mutating func startOver() -> Reaction {
        guard case .finishing = state else { return Reaction() }
        if let cancellation { return end(.finish(.failure(cancellation))) }
        state = .preparing
        (chain, credentials) = ([], [])
        return Reaction(actions: [.prepare(authorized, isNewAttempt: false)])
    }

    /// Returns the outcome of the attempt.
    func outcome(_ result: Result<ReceivedResponse, any Error>) -> Outcome { Outcome(result: result, head: lastHead) }

    /// Returns the question whether there is another attempt; nil if there is none, or a credential is asked for first.
    mutating func question(after outcome: Outcome, isResumable: Bool = false) -> RetryQuestion? {
        guard case .finishing = state, cancellation == nil, !isDelivered, outcome.head.map({ isChallenge($0) }) != true,
            let question = question(after: outcome.head, or: outcome.error, isResumable: isResumable)
        else { return nil }
        // No success: it can be cancelled while the policies are asked.
        state = .judging
        return question
    }

    /// Handles the outcome of the attempt.
    ///
    /// - Parameter pause: The pause before the next attempt, from ``question(after:)``.
    mutating func judged(_ outcome: Outcome, pause: Duration?) -> Reaction {
        switch state {
        case .judging, .finishing: break
        case .new, .queued, .preparing, .running, .stopping, .holding, .deciding, .asking, .pausing, .ended:
            return Reaction()
        }
        guard !isDelivered else { return Reaction() }
        let isChallenged = outcome.head.map { isChallenge($0) } == true
        if let cancellation {
            let isFinal = !isChallenged && outcome.error == nil && question(after: outcome.head, or: nil) == nil
            return end(.finish(isFinal ? outcome.result : .failure(cancellation)))
        }
        round += 1
        if isChallenged, let head = outcome.head {
            if let credential { refused.append(credential) }
            credential = nil
            challenges += 1
            state = .asking(outcome)
            return Reaction(steps: [.ask(.init(response: head, refused: refused), round: round)])
        }
        guard let pause else { return end(.finish(outcome.result)) }
        state = .pausing
        let step = Step.pause(pause, attempt: attempts - challenges, round: round, outcome.error)
        return Reaction(steps: policies.retries.yieldsPlace ? [.stepAside, step] : [step])
    }

    /// Handles the end of the body that was delivered.
    mutating func streamEnded(_ error: (any Error)?) -> Reaction {
        guard case .finishing = state, isDelivered else { return Reaction() }
        return end(.finishStream(error))
    }

    /// Returns the question whether an attempt with this head or error has a next one; nil if it has none.
    func question(after head: ResponseHead?, or error: (any Error)?, isResumable: Bool = false) -> RetryQuestion? {
        guard error != nil || head.map({ policies.retries.statuses.contains($0.status) }) == true else { return nil }
        return RetryQuestion(
            request: original,
            retries: policies.retries,
            attempt: attempts - challenges,
            head,
            error,
            isResumable: isResumable
        )
    }

    /// Returns true for a 401 from the origin that the caller named, if another credential may help.
    func isChallenge(_ head: ResponseHead) -> Bool {
        guard head.status == 401, authenticates, challenges < Self.challengeLimit, !original.hasOneShotBody
        else { return false }
        return Origin(of: head.url) == Origin(of: original.url)
    }
}
