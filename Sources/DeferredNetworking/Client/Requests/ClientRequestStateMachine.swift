import Foundation

/// A client's request, from its arrival through any number of attempts to its result.
///
/// An attempt is a transfer with all its redirects. Rounds number the attempts, challenges and pauses, to tell late
/// events of an earlier round from those of the current one.
struct ClientRequestStateMachine<Value: Sendable> {
    enum State {
        /// The request has not joined the queue.
        case new

        /// The request waits for its turn, for the first time or after a pause.
        case queued
        case attempting

        /// A credential was asked for. Without one, this outcome of the attempt is the result.
        case asking(Outcome)

        case pausing

        /// The result was delivered, and the transfer continues to feed the stream.
        case streaming

        case ended
    }

    /// The outcome of an attempt.
    struct Outcome: Sendable {
        var result: Result<Value, any Error>

        /// The last head that arrived, whatever the result.
        var head: ResponseHead?

        var error: (any Error)? {
            if case .failure(let error) = result { error } else { nil }
        }
    }

    enum Action {
        /// Joins the client's queue.
        case arrive

        case startAttempt(CheckedRequest, round: Int)
        case ask(URLClient.Authentication.Challenge, round: Int)
        /// The error is the attempt's, unless it was a status that is accepted.
        case pause(Duration, attempt: Int, round: Int, (any Error)?)

        /// Gives up its turn for the time of the pause that comes next.
        case stepAside

        /// Asks for its turn again.
        case comeBack

        /// Ends the current attempt, challenge or pause.
        case stop(any Error)

        /// A stream begins: delivers the result, though the request goes on.
        case deliver(Value)

        case finish(Result<Value, any Error>)

        /// The stream that was delivered has ended.
        case streamed((any Error)?)

        /// The request is over: gives up its place in the client, if it has one.
        case leave
    }

    /// The maximum number of credentials per request, in case the closure always offers another one.
    private static var challengeLimit: Int { 5 }

    private(set) var state = State.new
    private(set) var round = 0

    private let request: CheckedRequest
    private let policies: RequestPolicies
    private let authenticates: Bool
    private var retries: URLClient.Retries { policies.retries }
    private var attempts = 0

    /// The number of attempts that ended in a challenge. They don't count as attempts of the retry policy.
    private var challenges = 0
    private var credential: URLClient.Credential?
    private var refused: [URLClient.Credential] = []

    init(_ request: CheckedRequest, _ policies: RequestPolicies) {
        self.request = request
        self.policies = policies
        let authentication = policies.authentication
        let isFree = request.value(of: "Authorization") == nil
        authenticates = isFree && authentication.answer != nil
        credential = isFree ? authentication.preemptive : nil
    }

    /// Joins the queue, unless a deadline has expired before.
    mutating func begin() -> [Action] {
        guard case .new = state else { return [] }
        state = .queued
        return [.arrive]
    }

    /// Handles the request's turn.
    mutating func admitted() -> [Action] {
        switch state {
        case .queued:
            return startAttempt()
        case .ended:
            // The request may have left before it arrived: then this is the only place that gives up its turn.
            return [.leave]
        case .new, .attempting, .asking, .pausing, .streaming:
            return []
        }
    }

    /// Handles the delivery of a stream's head as the result.
    mutating func delivered(_ value: Value, round: Int) -> [Action] {
        guard case .attempting = state, round == self.round else { return [] }
        state = .streaming
        return [.deliver(value)]
    }

    /// Returns the pause before the next attempt; nil if there is none, or a credential is asked for first.
    ///
    /// Calls the caller's closures, which may use the client: not to be called under a lock.
    func pause(after outcome: Outcome, now: Date) -> Duration? {
        guard case .attempting = state, outcome.head.map(isChallenge) != true else { return nil }
        return pause(after: outcome.head, or: outcome.error, now: now)
    }

    /// - Parameter pause: The pause before the next attempt, from ``pause(after:now:)``.
    mutating func attemptEnded(_ outcome: Outcome, round: Int, pause: Duration?) -> [Action] {
        guard round == self.round, case .attempting = state else { return [] }
        guard let head = outcome.head, isChallenge(head) else {
            return pause.map { retry(after: outcome, $0) } ?? finish(outcome.result)
        }
        if let credential { refused.append(credential) }
        credential = nil
        challenges += 1
        self.round += 1
        state = .asking(outcome)
        return [.ask(.init(response: head, refused: refused), round: self.round)]
    }

    /// Handles the end of a stream that was delivered.
    mutating func streamEnded(_ error: (any Error)?, round: Int) -> [Action] {
        guard round == self.round, case .streaming = state else { return [] }
        state = .ended
        return [.streamed(error), .leave]
    }

    mutating func answered(_ answer: Result<URLClient.Credential?, any Error>, round: Int) -> [Action] {
        guard round == self.round, case .asking(let outcome) = state else { return [] }
        switch answer {
        case .success(let new?) where !refused.contains(new):
            credential = new
            return startAttempt()
        case .success:
            return finish(outcome.result)
        case .failure(let error):
            return finish(.failure(error))
        }
    }

    mutating func pauseEnded(round: Int) -> [Action] {
        guard round == self.round, case .pausing = state else { return [] }
        guard retries.yieldsPlace else { return startAttempt() }
        state = .queued
        return [.comeBack]
    }

    /// Ends the request for a cancellation, a deadline or a shutdown, unless it has ended already.
    mutating func abort(with error: any Error) -> [Action] {
        switch state {
        case .new:
            state = .ended
            return [.finish(.failure(error))]
        case .queued:
            return finish(.failure(error))
        case .attempting, .asking, .pausing:
            return [.stop(error)] + finish(.failure(error))
        case .streaming:
            state = .ended
            return [.stop(error), .streamed(error), .leave]
        case .ended:
            return []
        }
    }

    /// Returns true if a response with this head ends the attempts, so that a stream may begin with it. See
    /// ``pause(after:now:)``.
    func isFinal(_ head: ResponseHead, now: Date) -> Bool {
        !isChallenge(head) && pause(after: head, or: nil, now: now) == nil
    }

    private mutating func startAttempt() -> [Action] {
        round += 1
        attempts += 1
        state = .attempting
        guard let credential else { return [.startAttempt(request, round: round)] }
        do throws(URLClientError) {
            return [.startAttempt(try request.authorized(by: credential.field()), round: round)]
        } catch {
            return finish(.failure(error))
        }
    }

    private mutating func finish(_ result: Result<Value, any Error>) -> [Action] {
        state = .ended
        return [.finish(result), .leave]
    }

    private mutating func retry(after outcome: Outcome, _ pause: Duration) -> [Action] {
        round += 1
        state = .pausing
        let action = Action.pause(pause, attempt: attempts - challenges, round: round, outcome.error)
        return retries.yieldsPlace ? [.stepAside, action] : [action]
    }

    private func pause(after head: ResponseHead?, or error: (any Error)?, now: Date) -> Duration? {
        retries.pause(
            after: attempts - challenges,
            status: head?.status,
            error: error,
            mayRepeat: retries.mayRepeat(
                method: HTTPMethod(rawValue: request.method),
                isKeyed: request.value(of: "Idempotency-Key") != nil,
                hasOneShotBody: request.hasOneShotBody,
                after: error
            ),
            retryAfter: head.flatMap { RetryAfter.pause(asked: $0, now: now) }
        )
    }

    /// Returns true for a 401 from the origin that the caller named, if another credential may help.
    private func isChallenge(_ head: ResponseHead) -> Bool {
        guard head.status == 401, authenticates, challenges < Self.challengeLimit, !request.hasOneShotBody
        else { return false }
        return Origin(of: head.url) == Origin(of: request.url)
    }
}
