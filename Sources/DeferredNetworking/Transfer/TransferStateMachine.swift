import Foundation

#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

/// A transfer, from the first request through any number of redirects and challenges to its result.
///
/// A redirect or a challenge is never answered to the platform. It is recorded, its task is cancelled, and when that
/// task has completed, a new task sends the next request. Events of tasks other than the current one come late and are
/// ignored.
struct TransferStateMachine {
    enum State {
        case idle

        /// A task for the current request was requested, but doesn't exist yet.
        case creating

        case running(Exchange)

        /// The task was cancelled by this machine, and its completion is awaited.
        case stopping(Exchange, Stop)

        /// Somebody was asked about a redirect, and the task waits for the answer.
        case holding(Exchange, Question)

        /// Somebody was asked what to do next. No task exists.
        case deciding(Question)

        /// The result was delivered. The remainder on the platform's side is being cleaned up.
        case finished(Remainder)
    }

    /// A request and the data received for it so far.
    struct Exchange {
        let task: Int
        var response: ResponseHead?
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

    /// A question to the decider. The round distinguishes its answer from a second answer to an earlier question.
    enum Question {
        case redirect(ResponseHead, proposal: URLRequest, CheckedRequest.Body, round: Int)
        case challenge(ResponseHead?, round: Int)
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
        case fail(any Error)
    }

    enum Action {
        /// Stores the cookies of a response. Decided by the transfer, which has their storage.
        case storeCookies(ResponseHead)
        case createTask(CheckedRequest)
        case resumeTask(Int)
        case cancelTask(Int)

        /// Lets the task that waits follow a redirect, or with nil take it as its response.
        case answerRedirect(CheckedRequest?)

        case askAboutRedirect(ResponseHead, proposal: URLRequest, round: Int)
        case askAboutChallenge(failures: Int, round: Int)
        case deliverHead(ResponseHead)
        case deliverBytes(Data)
        case report(BodyProgress)
        case finish(Result<ResponseHead, any Error>)

        /// The platform has nothing left of this transfer.
        case release
    }

    private(set) var state = State.idle

    /// True once the result was decided.
    var isFinished: Bool { if case .finished = state { true } else { false } }

    /// True once the platform has nothing left of this transfer, too.
    var isReleased: Bool { if case .finished(.nothing) = state { true } else { false } }
    private(set) var request: CheckedRequest
    private(set) var round = 0
    private let redirectLimit: Int

    /// The URLs that redirected, in order.
    private var chain: [URL] = []
    private var credentials: Set<String> = []

    init(request: CheckedRequest, redirectLimit: Int = RedirectRules.hopLimit) {
        self.request = request
        self.redirectLimit = redirectLimit
    }

    // MARK: Beginning and ending

    mutating func start() -> [Action] {
        switch state {
        case .idle:
            return create(request)
        case .finished:
            return []
        case .creating, .running, .holding, .stopping, .deciding:
            preconditionFailure("start() in state \(state)")
        }
    }

    /// Handles a cancellation by the user. An earlier result stands.
    mutating func cancel() -> [Action] {
        abort(with: URLError(.cancelled, failing: request.url))
    }

    /// Ends the transfer with `error`, unless it has ended: for a deadline, or when the sink throws.
    mutating func abort(with error: any Error) -> [Action] {
        switch state {
        case .idle, .deciding:
            state = .finished(.nothing)
            return [.finish(.failure(error)), .release]
        case .creating:
            state = .finished(.creation)
            return [.finish(.failure(error))]
        case .running(let exchange):
            state = .finished(.task(exchange.task))
            return [.finish(.failure(error)), .cancelTask(exchange.task)]
        case .holding(let exchange, _):
            return abandon(exchange, with: error)
        case .stopping(let exchange, _):
            state = .finished(.task(exchange.task))
            return [.finish(.failure(error))]
        case .finished:
            return []
        }
    }

    /// Handles the invalidation of the session, which makes no more callbacks.
    mutating func invalidated() -> [Action] {
        switch state {
        case .idle, .creating, .deciding:
            return abort(with: URLClientError.shutDown)
        case .running, .holding, .stopping:
            return finish(.failure(URLClientError.shutDown))
        case .finished(.task):
            state = .finished(.nothing)
            return [.release]
        case .finished(.creation), .finished(.nothing):
            return []
        }
    }

    private mutating func create(_ next: CheckedRequest) -> [Action] {
        request = next
        state = .creating
        return [.createTask(next)]
    }

    /// Ends the transfer when no task is left.
    private mutating func finish(_ result: Result<ResponseHead, any Error>) -> [Action] {
        state = .finished(.nothing)
        return [.finish(result), .release]
    }

    /// Ends the transfer while its task waits for an answer, which the platform gets all the same.
    private mutating func abandon(_ exchange: Exchange, with error: any Error) -> [Action] {
        state = .finished(.task(exchange.task))
        return [.finish(.failure(error)), .cancelTask(exchange.task), .answerRedirect(nil)]
    }

    // MARK: What happens to the task

    mutating func created(task: Int) -> [Action] {
        switch state {
        case .creating:
            state = .running(Exchange(task: task))
            return [.resumeTask(task)]
        case .finished(.creation):
            state = .finished(.task(task))
            return [.cancelTask(task)]
        case .idle, .running, .holding, .stopping, .deciding, .finished:
            preconditionFailure("created(task: \(task)) in state \(state)")
        }
    }

    /// Handles the head of a response. The last of several counts, and its body replaces earlier ones.
    mutating func received(_ response: ResponseHead, task: Int) -> [Action] {
        guard case .running(var exchange) = state, exchange.task == task, !isInterim(response) else { return [] }
        do throws(URLError) {
            try ResponseFraming.check(response, of: request)
        } catch {
            return abort(with: error)
        }
        exchange.response = response
        exchange.received = 0
        exchange.expected = BodyLength.expected(from: response, method: request.method)
        state = .running(exchange)
        return [.deliverHead(response), .report(.received(0, of: exchange.expected))]
    }

    mutating func received(_ bytes: Data, task: Int) -> [Action] {
        guard case .running(var exchange) = state, exchange.task == task, exchange.response != nil else { return [] }
        exchange.received += Int64(bytes.count)
        if let expected = exchange.expected, exchange.received > expected {
            let description = "The body is longer than its announced length of \(expected) bytes"
            return abort(with: URLError(.badServerResponse, failing: request.url, description: description))
        }
        state = .running(exchange)
        return [.deliverBytes(bytes), .report(.received(exchange.received, of: exchange.expected))]
    }

    /// - Parameter expected: the length of the whole body, if known.
    mutating func sent(_ bytes: Int64, expected: Int64?, task: Int) -> [Action] {
        guard case .running(var exchange) = state, exchange.task == task else { return [] }
        // The platform's own total repeats and jumps; the sum of its steps is right, but for steps that it repeats.
        exchange.sent = min(exchange.sent + bytes, expected ?? .max)
        state = .running(exchange)
        return [.report(.sent(exchange.sent, of: expected))]
    }

    /// Notes that the body is sent from its first byte.
    mutating func bodyBegan(task: Int) -> [Action] {
        if case .running(var exchange) = state, exchange.task == task {
            exchange.sent = 0
            state = .running(exchange)
        }
        return []
    }

    /// - Parameter isHeld: whether the task waits for an answer, instead of having to be cancelled.
    mutating func redirected(by response: ResponseHead, task: Int, isHeld: Bool = false) -> [Action] {
        guard isHeld else { return stop(for: .redirect(response), task: task) }
        guard case .running(let exchange) = state, exchange.task == task else { return [.answerRedirect(nil)] }
        return consider(response, holding: exchange)
    }

    mutating func challenged(task: Int) -> [Action] {
        stop(for: .challenge, task: task)
    }

    /// Handles the platform's request to send a body again that it has already read: it lost a kept-alive connection.
    mutating func bodyStreamWanted(task: Int) -> [Action] {
        stop(for: .rewind, task: task)
    }

    /// - Parameter response: the task's response. On Linux, that of a redirect without a usable target is never
    ///   delivered otherwise.
    mutating func completed(task: Int, response: ResponseHead?, error: (any Error)?) -> [Action] {
        switch state {
        case .holding(let exchange, _) where exchange.task == task:
            return finish(result(of: exchange, error: error))
        case .running(let exchange) where exchange.task == task:
            if error == nil, exchange.response == nil, let response, isRedirect(response) {
                return deliver(response)
            }
            return finish(result(of: exchange, error: error))
        case .stopping(let exchange, let stop) where exchange.task == task:
            return stopped(exchange, for: stop)
        case .finished(.task(task)):
            state = .finished(.nothing)
            return [.release]
        case .idle, .creating, .running, .holding, .stopping, .deciding, .finished:
            return []
        }
    }

    private mutating func stop(for reason: Stop, task: Int) -> [Action] {
        guard case .running(let exchange) = state, exchange.task == task else { return [] }
        state = .stopping(exchange, reason)
        return [.cancelTask(task)]
    }

    private func result(of exchange: Exchange, error: (any Error)?) -> Result<ResponseHead, any Error> {
        if let error {
            let context = ErrorMapping.Context(
                url: request.url,
                received: exchange.received,
                expected: exchange.expected,
                hasResponse: exchange.response != nil
            )
            return .failure(ErrorMapping.mapped(error, in: context))
        }
        guard let response = exchange.response else {
            return .failure(URLError(.badServerResponse, failing: request.url))
        }
        if let expected = exchange.expected, exchange.received < expected {
            return .failure(URLClientError.truncatedBody(received: exchange.received, expected: expected))
        }
        return .success(response)
    }

    private func isRedirect(_ response: ResponseHead) -> Bool {
        response.status.isRedirection
    }

    /// Returns true for 1xx, except 101, which is followed by a body.
    private func isInterim(_ response: ResponseHead) -> Bool {
        (100..<200).contains(response.status.code) && response.status != 101
    }

    // MARK: Redirects and challenges

    /// Handles the completion, with whatever error, of a task that this machine cancelled.
    private mutating func stopped(_ exchange: Exchange, for reason: Stop) -> [Action] {
        switch reason {
        case .redirect(let response):
            return consider(response, holding: nil)
        case .challenge:
            round += 1
            state = .deciding(.challenge(exchange.response, round: round))
            return [.askAboutChallenge(failures: credentials.count, round: round)]
        case .rewind:
            return finish(.failure(BodyStreams.exhausted(request.url)))
        }
    }

    /// Handles the answer to the question of this round. Late and repeated answers are ignored.
    mutating func answered(_ answer: Answer, round: Int) -> [Action] {
        switch state {
        case .deciding(.redirect(let response, let proposal, let body, round)):
            return answeredRedirect(answer, response, proposal: proposal, body, holding: nil)
        case .deciding(.challenge(let response, round)):
            return answeredChallenge(answer, response: response)
        case .holding(let exchange, .redirect(let response, let proposal, let body, round)):
            return answeredRedirect(answer, response, proposal: proposal, body, holding: exchange)
        case .idle, .creating, .running, .holding, .stopping, .deciding, .finished:
            return []
        }
    }

    /// - Parameter exchange: the exchange of the task that waits for the answer, or nil if no task exists.
    private mutating func consider(_ response: ResponseHead, holding exchange: Exchange?) -> [Action] {
        switch RedirectRules.verdict(on: response, to: request, after: chain, limit: redirectLimit) {
        case .follow(let proposal, let body):
            round += 1
            let question = Question.redirect(response, proposal: proposal, body, round: round)
            state = exchange.map { .holding($0, question) } ?? .deciding(question)
            return [.askAboutRedirect(response, proposal: proposal, round: round)]
        case .deliver:
            return deliver(response, holding: exchange)
        case .fail(let error):
            return fail(with: error, holding: exchange)
        }
    }

    private mutating func answeredRedirect(
        _ answer: Answer,
        _ response: ResponseHead,
        proposal: URLRequest,
        _ body: CheckedRequest.Body,
        holding exchange: Exchange?
    ) -> [Action] {
        switch answer {
        case .follow(let next):
            do throws(URLClientError) {
                let checked = try checked(next, proposal: proposal, body)
                chain.append(request.url)
                guard let exchange else { return create(checked) }
                request = checked
                state = .running(Exchange(task: exchange.task))
                return [.answerRedirect(checked)]
            } catch {
                return fail(with: error.about(next.url), holding: exchange)
            }
        case .fail(let error):
            return fail(with: error, holding: exchange)
        case .deliver, .authenticate:
            return deliver(response, holding: exchange)
        }
    }

    /// Takes a redirect itself as the response. Its body is lost, unless its task waits for this: the task was
    /// cancelled, or the platform dropped the body.
    private mutating func deliver(_ response: ResponseHead, holding exchange: Exchange? = nil) -> [Action] {
        guard let exchange else { return [.deliverHead(response)] + finish(.success(response)) }
        state = .running(exchange)
        return [.answerRedirect(nil)]
    }

    private mutating func fail(with error: any Error, holding exchange: Exchange?) -> [Action] {
        if let exchange { abandon(exchange, with: error) } else { finish(.failure(error)) }
    }

    private mutating func answeredChallenge(_ answer: Answer, response: ResponseHead?) -> [Action] {
        if case .fail(let error) = answer {
            return finish(.failure(error))
        }
        if case .authenticate(let user, let password) = answer {
            do throws(URLClientError) {
                let field = try BasicCredential.field(user: user, password: password)
                // The same credential would fail the same way: the result is the response that refuses it.
                if credentials.insert(field).inserted {
                    guard !request.hasOneShotBody else {
                        return finish(.failure(URLError(.requestBodyStreamExhausted, failing: request.url)))
                    }
                    return create(try request.authorized(by: field))
                }
            } catch {
                return finish(.failure(error))
            }
        }
        // The response and its body were delivered before the challenge arrived.
        guard let response else {
            return finish(.failure(URLError(.userAuthenticationRequired, failing: request.url)))
        }
        return finish(.success(response))
    }

    /// `request` may come from outside, so it is checked like the first one.
    private func checked(
        _ next: URLRequest,
        proposal: URLRequest,
        _ body: CheckedRequest.Body
    ) throws(URLClientError) -> CheckedRequest {
        // Another method than the proposed one has another body.
        try request.following(next, body: next.httpMethod == proposal.httpMethod ? body : .inRequest)
    }

    /// Notes a credential, and returns whether it was not tried before, where the platform answers challenges itself:
    /// the same credential would fail again.
    mutating func mayTry(user: String, password: String) -> Bool {
        credentials.insert(user + "\u{0}" + password).inserted
    }
}
