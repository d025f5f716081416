internal import DeferredCore
import Foundation

#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

/// A request, from its admission through any number of attempts, redirects and challenges to its end.
///
/// An attempt is one way to an outcome, with all redirects and all tasks that it needs. A redirect or a challenge that a
/// task does not wait for is recorded, the task is cancelled, and when it has ended, a new one sends the next request.
/// The round tells late events and answers from those that count: it numbers attempts, tasks, questions and pauses.
///
/// An event leaves what it decides in ``actions`` and ``step``.
struct ExchangeStateMachine {
    enum State {
        /// The request waits for its turn, for the first time or after a pause.
        case queued

        /// An attempt begins: its receiver is asked for the request to send.
        case preparing

        /// A task sends the request, and receives the response.
        case running(Run)

        /// The task was cancelled by this machine, and its end is awaited.
        case stopping(Run, Stop)

        /// Somebody was asked what to do next. The task of a redirect may wait for the answer; otherwise, no task runs.
        case deciding(Question, holding: Run?)

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

    /// The outcome of an attempt. The ``lastHead`` counts with it, whatever it is.
    typealias Outcome = Result<ReceivedResponse, any Error>

    /// The maximum number of credentials per request, in case the closure always offers another one.
    private static var challengeLimit: Int { 5 }

    var state = State.queued
    var round = 0

    /// The actions that were decided, and that nobody has begun to perform.
    var actions = Queue<Action>(capacity: 4)
    var step: Step?

    /// The request as it was checked, and as it was last sent.
    private let original: CheckedRequest
    var request: CheckedRequest
    let policies: RequestPolicies
    let redirectLimit: Int
    let originBoundFields: Set<String>
    private let authenticates: Bool

    private var attempts = 0

    /// The number of attempts that ended in a challenge. They don't count as attempts of the retry policy.
    private var challenges = 0
    private var credential: URLClient.Credential?
    private var refused: [URLClient.Credential] = []

    /// Takes the place of the credential for the scheme Digest, whose answers depend on the request.
    private var digest: DigestAnswers?

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
        redirectLimit: Int = RedirectRules.hopLimit,
        originBoundFields: Set<String> = []
    ) {
        original = request
        self.request = request
        self.policies = policies
        self.redirectLimit = redirectLimit
        self.originBoundFields = originBoundFields
        let authentication = policies.authentication
        authenticates = !authentication.isNone && request.value(of: "Authorization") == nil
        credential = authenticates ? authentication.preemptive : nil
        digest = authenticates ? authentication.digest.map(DigestAnswers.init) : nil
    }

    var hasDigest: Bool { digest != nil }

    var hasEnded: Bool { if case .ended = state { true } else { false } }

    /// Returns true for the task of the current request.
    func isCurrent(_ task: Int) -> Bool {
        switch state {
        case .running(let run), .stopping(let run, _), .deciding(_, let run?): run.task == task
        case .queued, .preparing, .deciding, .judging, .finishing, .asking, .pausing, .ended: false
        }
    }

    // MARK: The request

    /// Asks for the request's turn, unless a deadline has expired before. Called once.
    mutating func begin() {
        if case .queued = state { step = .arrive }
    }

    /// Handles the request's turn.
    mutating func admitted() {
        switch state {
        case .queued: startAttempt()
        // It may have left before it arrived: then this is the only place that gives up its turn.
        case .ended: step = .leave
        case .preparing, .running, .stopping, .deciding, .judging, .finishing, .asking, .pausing: break
        }
    }

    /// Ends the request for a cancellation, a deadline or a shutdown, unless it has ended already.
    mutating func cancel(with error: any Error) {
        switch state {
        case .ended: return
        case .finishing: return cancellation = cancellation ?? error
        case .queued, .judging, .asking, .pausing: break
        case .preparing, .running, .stopping, .deciding: abort(with: error)
        }
        cancellation = error
        end(isDelivered ? .finishStream(error) : .finish(.failure(error)))
    }

    private mutating func end(_ last: Step) {
        state = .ended
        step = last
        if tasks == 0 { actions.append(.release) }
    }

    /// Handles the delivery of a stream's head as the result.
    mutating func delivered(_ response: ReceivedResponse) {
        guard !hasEnded, !isDelivered else { return }
        isDelivered = true
        step = .deliver(response)
    }

    /// Handles the answer to the question for a credential.
    mutating func answered(_ answer: Result<URLClient.Credential?, any Error>, round: Int) {
        guard round == self.round, case .asking(let outcome) = state else { return }
        switch answer {
        case .success(let new?) where !refused.contains(new):
            credential = new
            startAttempt()
        case .success: end(.finish(outcome))
        case .failure(let error): end(.finish(.failure(error)))
        }
    }

    mutating func pauseEnded(round: Int) {
        guard round == self.round, case .pausing = state else { return }
        guard policies.retries.yieldsPlace else { return startAttempt() }
        state = .queued
        step = .comeBack
    }

    // MARK: Attempts

    private mutating func startAttempt() {
        attempts += 1
        lastHead = nil
        prepare(isNewAttempt: true)
    }

    private mutating func prepare(isNewAttempt: Bool) {
        (chain, credentials) = ([], [])
        state = .preparing
        do throws(URLClientError) {
            actions.append(.prepare(try authorized(original), isNewAttempt: isNewAttempt))
        } catch {
            end(.finish(.failure(error)))
        }
    }

    /// Returns a request to the caller's origin with the credential, if there is one.
    mutating func authorized(_ request: CheckedRequest) throws(URLClientError) -> CheckedRequest {
        if let field = digest?.field(method: request.method, url: request.url, body: { request.bodyInMemory }) {
            return try request.authorized(by: field)
        }
        return if let credential { try request.authorized(by: credential.field()) } else { request }
    }

    /// Handles the request that the receiver wants to be sent in this attempt, and returns what is sent, and the number of its
    /// task.
    mutating func prepared(_ request: CheckedRequest) throws(URLClientError) -> (request: CheckedRequest, task: Int)? {
        guard case .preparing = state else { return nil }
        var request = request
        // An answer to Digest is for one method and URL, and a receiver may have chosen others.
        if hasDigest, request.method != original.method || request.url != original.url {
            request = try authorized(request)
        }
        return (request, start(request))
    }

    mutating func start(_ next: CheckedRequest) -> Int {
        request = next
        round += 1
        tasks += 1
        state = .running(Run(task: round))
        return round
    }

    /// Ends the attempt with `error`, if there is one: for a deadline, or when the receiver throws.
    mutating func abort(with error: any Error) {
        switch state {
        case .preparing, .stopping: fail(with: error)
        case .running(let run):
            fail(with: error)
            actions.append(.cancelTask(run.task))
        case .deciding(_, let run): fail(with: error, holding: run)
        case .queued, .judging, .finishing, .asking, .pausing, .ended: break
        }
    }

    mutating func judge(_ result: Result<ResponseHead, any Error>) {
        state = .judging
        actions.append(.endAttempt(result))
    }

    /// Lets the receiver make the outcome, or returns the error with which the request was cancelled meanwhile.
    mutating func finishes() -> (any Error)? {
        if case .judging = state { state = .finishing }
        return cancellation
    }

    /// Begins the attempt once more, because its receiver wants another request to be sent.
    mutating func startOver() {
        guard case .finishing = state else { return }
        if let cancellation { return end(.finish(.failure(cancellation))) }
        prepare(isNewAttempt: false)
    }

    /// Returns the question whether there is another attempt; nil if there is none, or a credential is asked for first.
    mutating func question(after outcome: Outcome, isResumable: Bool = false) -> RetryQuestion? {
        guard case .finishing = state, cancellation == nil, !isDelivered, !isChallenge(lastHead),
            let question = question(after: lastHead, or: outcome.error, isResumable: isResumable)
        else { return nil }
        // No success: it can be cancelled while the policies are asked.
        state = .judging
        return question
    }

    /// Handles the outcome of the attempt.
    ///
    /// - Parameter pause: The pause before the next attempt, from ``question(after:)``.
    mutating func judged(_ outcome: Outcome, pause: Duration?) {
        switch state {
        case .judging, .finishing: break
        case .queued, .preparing, .running, .stopping, .deciding, .asking, .pausing, .ended: return
        }
        guard !isDelivered else { return }
        let isChallenged = isChallenge(lastHead)
        if let cancellation {
            let isFinal = !isChallenged && outcome.error == nil && question(after: lastHead, or: nil) == nil
            return end(.finish(isFinal ? outcome : .failure(cancellation)))
        }
        round += 1
        if isChallenged, let head = lastHead {
            challenges += 1
            if digest?.mayAnswer(head.challenges, body: { [original] in original.bodyInMemory }) == true {
                actions.append(.reportChallenge(head))
                return startAttempt()
            }
            if let credential { refused.append(credential) }
            credential = nil
            state = .asking(outcome)
            return step = .ask(.init(response: head, refused: refused), round: round)
        }
        guard let pause else { return end(.finish(outcome)) }
        state = .pausing
        step = .pause(pause, attempt: attempts - challenges, round: round, outcome.error)
    }

    /// Handles the end of the body that was delivered.
    mutating func streamEnded(_ error: (any Error)?) {
        guard case .finishing = state, isDelivered else { return }
        end(.finishStream(error))
    }

    /// Returns the pause before the next attempt; nil if there is none. It calls the caller's closures, which may use the
    /// client: not under a lock.
    typealias RetryQuestion = @Sendable (_ now: Date) -> Duration?

    /// Returns the question whether an attempt with this head or error has a next one; nil if it has none.
    ///
    /// - Parameter isResumable: True if the next attempt goes on where this one broke off.
    func question(after head: ResponseHead?, or error: (any Error)?, isResumable: Bool = false) -> RetryQuestion? {
        guard error != nil || head.map({ policies.retries.statuses.contains($0.status) }) == true else { return nil }
        let (request, retries, attempt) = (original, policies.retries, attempts - challenges)
        return { now in
            retries.pause(
                after: attempt,
                status: head?.status,
                error: error,
                mayRepeat: isResumable
                    || retries.mayRepeat(
                        method: HTTPMethod(rawValue: request.method),
                        isKeyed: request.value(of: "Idempotency-Key") != nil,
                        hasOneShotBody: request.hasOneShotBody,
                        after: error
                    ),
                retryAfter: head.flatMap { RetryAfter.pause(asked: $0, now: now) }
            )
        }
    }

    /// Returns true for a 401 from the origin that the caller named, if another credential may help.
    ///
    /// It changes nothing, but is mutating, since Swift would copy the whole structure for it otherwise.
    mutating func isChallenge(_ head: ResponseHead?) -> Bool {
        guard let head, head.status == 401, authenticates, challenges < Self.challengeLimit, !original.hasOneShotBody
        else { return false }
        return Origin(of: head.url) == Origin(of: original.url)
    }
}

extension Result<ReceivedResponse, any Error> {
    fileprivate var error: (any Error)? { if case .failure(let error) = self { error } else { nil } }
}
