import DeferredCore
import DeferredTask
import Foundation

@testable import DeferredNetworking

#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

/// The events of an exchange, as values: for tables and for random sequences.
enum MachineEvent: String, CaseIterable, Sendable {
    case begin, admitted, prepared, finishes, startOver, delivered, streamed, brokeOff, succeeded, refused, busy, lost
    case found, notFound, notAnswered, paused, cancel, abort
    case interim, head, bytes, answered, sent, bodyBegan, redirected, redirectedAway, challenged, rewind
    case redirectedHeld, redirectedAwayHeld, completed, completedUnseen, failed, invalidated
    case follow, followInvalid, authenticate, deliver, fail
    case staleHead, staleBytes, staleSent, staleRedirect, staleAnswer, staleCredential, stalePause

    /// Those that end a task.
    static let ends: [Self] = [.completed, .completedUnseen, .failed, .invalidated]

    /// Those of the whole request: the others are the attempt's.
    static let ofRequest: [Self] = [
        .begin, .admitted, .startOver, .delivered, .streamed, .brokeOff, .succeeded, .refused, .busy, .lost, .found,
        .notFound,
        .notAnswered, .paused,
        .cancel, .staleCredential, .stalePause,
    ]
}

/// A machine for a PUT that is attempted twice, and answers a challenge, with names for its states and actions that are
/// short enough for a table.
struct MachineFixture {
    static let url = URL(string: "http://host/") ?? URL(filePath: "/")
    static let interim = response(103)
    static let ok = response(200, ["Content-Length": "3"])
    static let redirect = response(307, ["Location": "/next"])
    static let away = response(302, ["Location": "ftp://host/"])
    static let bytes = Data("abc".utf8)

    struct Failure: Error {}

    var machine: ExchangeStateMachine

    /// The number of the newest task.
    private(set) var task = 0

    init(after events: [MachineEvent] = [], yieldsPlace: Bool = false) {
        var request = URLRequest(url: Self.url)
        request.httpMethod = "PUT"
        var retries = URLClient.Retries()
        retries.attempts = 2
        retries.random = { 1 }
        retries.yieldsPlace = yieldsPlace
        let policies = RequestPolicies(retries: retries, authentication: .custom { _ in .success(nil) })
        machine = ExchangeStateMachine(.checked(request), policies)
        for event in events { _ = apply(event) }
    }

    private static func response(_ status: Int, _ headers: [String: String] = [:]) -> ResponseHead {
        .made(status, headers, from: url.absoluteString)
    }

    /// Returns true if the storage can cause the event in this state.
    func isPossible(_ event: MachineEvent) -> Bool {
        switch (event, machine.state) {
        case (.redirectedHeld, .deciding(_, .some)), (.redirectedAwayHeld, .deciding(_, .some)): false
        default: true
        }
    }

    /// Returns the actions, and the step.
    mutating func apply(_ event: MachineEvent) -> ExchangeStateMachine.Reaction {
        if MachineEvent.ofRequest.contains(event) { handleRequest(event) } else { handleAttempt(event) }
        let reaction = machine.takeReaction()
        for case .startTask(_, let number) in reaction.actions { task = number }
        return reaction
    }

    private mutating func handleRequest(_ event: MachineEvent) {
        let round = machine.round
        switch event {
        case .begin: machine.begin()
        case .admitted: machine.admitted()
        case .startOver: machine.startOver()
        case .delivered: machine.delivered(.file(Self.ok))
        case .streamed: machine.streamEnded(nil)
        case .brokeOff: machine.streamEnded(URLError(.networkConnectionLost))
        case .succeeded: judge(.success(.file(Self.ok)), status: 200)
        case .refused: judge(.success(.file(Self.response(401))), status: 401)
        case .busy: judge(.success(.file(Self.response(503))), status: 503)
        case .lost: judge(.failure(URLError(.networkConnectionLost)), status: nil)
        case .found: machine.answered(.success(.bearer(token: "\(round)")), round: round)
        case .notFound: machine.answered(.success(nil), round: round)
        case .notAnswered: machine.answered(.failure(URLError(.timedOut)), round: round)
        case .staleCredential: machine.answered(.success(nil), round: round - 1)
        case .paused: machine.pauseEnded(round: round)
        case .stalePause: machine.pauseEnded(round: round - 1)
        default: machine.cancel(with: URLError(.cancelled))
        }
    }

    private mutating func judge(_ result: Result<ReceivedResponse, any Error>, status: Int?) {
        machine.lastHead = status.map { Self.response($0) }
        machine.judged(result, pause: machine.question(after: result)?(Date(timeIntervalSince1970: 0)))
    }

    private mutating func handleAttempt(_ event: MachineEvent) {
        switch event {
        case .prepared:
            if let next = try? machine.prepared(machine.request) {
                machine.actions.append(.startTask(next.request, next.task))
            }
        case .finishes: _ = machine.finishes()
        case .interim: machine.received(Self.interim, task: task)
        case .head: machine.received(Self.ok, task: task)
        case .bytes: machine.received(Self.bytes, task: task)
        case .answered: machine.answered(Self.ok, task: task)
        case .sent: machine.sent(5, expected: 10, task: task)
        case .redirected: machine.redirected(by: Self.redirect, task: task)
        case .redirectedAway: machine.redirected(by: Self.away, task: task)
        case .redirectedHeld: machine.redirected(by: Self.redirect, task: task, isHeld: true)
        case .redirectedAwayHeld: machine.redirected(by: Self.away, task: task, isHeld: true)
        case .bodyBegan: machine.bodyBegan(task: task)
        case .challenged: machine.challenged(task: task)
        case .rewind: machine.bodyStreamWanted(task: task)
        case .completed: machine.completed(task: task, head: Self.ok, error: nil)
        case .completedUnseen: machine.completed(task: task, head: Self.away, error: nil)
        case .failed: machine.completed(task: task, head: nil, error: URLError(.timedOut))
        case .invalidated: machine.completed(task: task, head: nil, error: URLClientError.shutDown)
        case .staleHead: machine.received(Self.ok, task: task - 1)
        case .staleBytes: machine.received(Self.bytes, task: task - 1)
        case .staleSent: machine.sent(5, expected: 10, task: task - 1)
        case .staleRedirect: machine.redirected(by: Self.redirect, task: task - 1)
        case .follow: machine.answered(.follow(machine.request.request), round: machine.round)
        case .followInvalid: machine.answered(.follow(Self.invalidRequest), round: machine.round)
        case .authenticate:
            machine.answered(.authenticate(user: "u", password: "p"), round: machine.round)
        case .deliver: machine.answered(.deliver, round: machine.round)
        case .fail: machine.answered(.fail(URLError(.userCancelledAuthentication)), round: machine.round)
        case .staleAnswer: machine.answered(.deliver, round: machine.round - 1)
        default: machine.abort(with: Failure())
        }
    }

    private static var invalidRequest: URLRequest {
        var request = URLRequest(url: URL(filePath: "/"))
        request.timeoutInterval = .infinity
        return request
    }
}

extension ExchangeStateMachine {
    /// What an event has decided.
    struct Reaction {
        var actions: [Action] = []
        var step: Step?
    }

    mutating func takeReaction() -> Reaction {
        var reaction = Reaction(step: step.take())
        while let action = actions.popFirst() { reaction.actions.append(action) }
        return reaction
    }
}

extension ExchangeStateMachine.Reaction {
    /// Each action, and then the step, in a few words.
    var summary: [String] { actions.map(\.summary) + (step.map { [$0.summary] } ?? []) }
}

private func summary(of error: any Error) -> String {
    switch error {
    case let error as URLError: "\(error.code.rawValue)"
    case let error as URLClientError: "\("\(error)".prefix(16))"
    default: "failure"
    }
}

extension ExchangeStateMachine.Action {
    var summary: String {
        switch self {
        case .storeCookies(let head): "cookies \(head.status.code)"
        case .reportChallenge: "tell of challenge"
        case .prepare(_, let isNew): isNew ? "prepare" : "prepare again"
        case .startTask(_, let task): "start \(task)"
        case .cancelTask(let task): "cancel \(task)"
        case .answerRedirect(let request): "answer " + (request?.url.path ?? "nothing")
        case .askAboutRedirect(let head, _, _): "ask \(head.status.code)"
        case .askAboutChallenge(let failures, _): "ask 401 after \(failures)"
        case .deliverInterim(let head): "interim \(head.status.code)"
        case .deliverHead(let head, _): "head \(head.status.code)"
        case .deliverBytes(let bytes, let count, let total):
            "\(bytes.count) bytes, \(count)/\(total.map(String.init) ?? "?")"
        case .reportSent(let count, _, let total): "sent \(count)/\(total.map(String.init) ?? "?")"
        case .deliverEnd(let head): "answered \(head.status.code)"
        case .endAttempt(.success(let head)): "end \(head.status.code)"
        case .endAttempt(.failure(let error)): "end \(DeferredNetworkingTests.summary(of: error))"
        case .release: "release"
        }
    }
}

extension ExchangeStateMachine.Step {
    var summary: String {
        switch self {
        case .arrive: "arrive"
        case .comeBack: "back"
        case .ask: "ask for credential"
        case .pause(_, let attempt, _, _): "pause after \(attempt)"
        case .deliver: "deliver"
        case .finish(.success(let response)): "success \(response.file.status.code)"
        case .finish(.failure(let error)): "failure \(DeferredNetworkingTests.summary(of: error))"
        case .finishStream(let error): error == nil ? "streamed" : "broke off"
        case .leave: "leave"
        }
    }
}

extension ExchangeStateMachine.State {
    /// The state, with the details that distinguish states of the same case.
    var summary: String {
        switch self {
        case .queued: "queued"
        case .preparing: "preparing"
        case .running(let run): run.head == nil ? "running" : "receiving"
        case .deciding(_, .some): "holding"
        case .stopping(_, .redirect): "stopping for redirect"
        case .stopping(_, .challenge): "stopping for challenge"
        case .stopping(_, .rewind): "stopping for rewind"
        case .deciding(.redirect, nil): "deciding on redirect"
        case .deciding(.challenge, nil): "deciding on challenge"
        case .judging: "judging"
        case .finishing: "finishing"
        case .asking: "asking"
        case .pausing: "pausing"
        case .ended: "ended"
        }
    }
}

extension CheckedRequest {
    /// Returns a checked request for one that the test knows to be valid.
    static func checked(_ request: URLRequest, body: Body = .inRequest) -> CheckedRequest {
        do {
            return try CheckedRequest(request, body: body)
        } catch {
            preconditionFailure("\(error)")
        }
    }
}

extension Exchange {
    /// Begins a request whose response is gathered in memory.
    @discardableResult
    static func gather(
        _ request: CheckedRequest,
        on retained: RetainedEngine,
        _ settings: Settings = Settings(),
        delegate: (any ExchangeDelegate)? = nil,
        limit: Int64? = nil,
        onProgress: @escaping @Sendable (BodyProgress) -> Void = { _ in },
        _ end: @escaping @Sendable (Result<(Data, ResponseHead), any Error>) -> Void
    ) -> Exchange {
        let receiver = DataReceiver(limit: limit, onProgress: onProgress)
        return begin(request, on: retained, settings, delegate: delegate, to: receiver) { result, _ in
            end(result.map { ($0.data.body, $0.data.head) })
        }
    }

    /// An exchange that is never begun.
    static func idle(_ request: CheckedRequest, to receiver: any ResponseReceiver = DataReceiver()) -> Exchange {
        Exchange(request, Settings(), to: Attempt(receiver), completion: Completion { _, _ in })
    }
}
