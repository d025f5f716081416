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
    case interim, head, bytes, sent, bodyBegan, redirected, redirectedAway, challenged, rewind
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
        case (.redirectedHeld, .holding), (.redirectedAwayHeld, .holding): false
        default: true
        }
    }

    /// Returns the actions, and the steps.
    mutating func apply(_ event: MachineEvent) -> ExchangeStateMachine.Reaction {
        let reaction =
            MachineEvent.ofRequest.contains(event) ? react(to: event) : .init(actions: actions(after: event))
        for case .startTask(_, let number) in reaction.actions { task = number }
        return reaction
    }

    private mutating func react(to event: MachineEvent) -> ExchangeStateMachine.Reaction {
        let round = machine.round
        switch event {
        case .begin: return machine.begin()
        case .admitted: return machine.admitted()
        case .startOver: return machine.startOver()
        case .delivered: return machine.delivered(.file(Self.ok))
        case .streamed: return machine.streamEnded(nil)
        case .brokeOff: return machine.streamEnded(URLError(.networkConnectionLost))
        case .succeeded: return judge(.success(.file(Self.ok)), status: 200)
        case .refused: return judge(.success(.file(Self.response(401))), status: 401)
        case .busy: return judge(.success(.file(Self.response(503))), status: 503)
        case .lost: return judge(.failure(URLError(.networkConnectionLost)), status: nil)
        case .found: return machine.answered(.success(.bearer(token: "\(round)")), round: round)
        case .notFound: return machine.answered(.success(nil), round: round)
        case .notAnswered: return machine.answered(.failure(URLError(.timedOut)), round: round)
        case .staleCredential: return machine.answered(.success(nil), round: round - 1)
        case .paused: return machine.pauseEnded(round: round)
        case .stalePause: return machine.pauseEnded(round: round - 1)
        default: return machine.cancel(with: URLError(.cancelled))
        }
    }

    private mutating func judge(
        _ result: Result<ReceivedResponse, any Error>,
        status: Int?
    ) -> ExchangeStateMachine.Reaction {
        let outcome = ExchangeStateMachine.Outcome(result: result, head: status.map { Self.response($0) })
        return machine.judged(
            outcome,
            pause: machine.question(after: outcome)?.pause(now: Date(timeIntervalSince1970: 0))
        )
    }

    private mutating func actions(after event: MachineEvent) -> [ExchangeStateMachine.Action] {
        switch event {
        case .prepared: return machine.prepared(machine.request).map { [.startTask(machine.request, $0)] } ?? []
        case .finishes:
            _ = machine.finishes()
            return []
        case .interim: return machine.received(Self.interim, task: task)
        case .head: return machine.received(Self.ok, task: task)
        case .bytes: return machine.received(Self.bytes, task: task)
        case .sent: return machine.sent(5, expected: 10, task: task)
        case .redirected: return machine.redirected(by: Self.redirect, task: task)
        case .redirectedAway: return machine.redirected(by: Self.away, task: task)
        case .redirectedHeld: return machine.redirected(by: Self.redirect, task: task, isHeld: true)
        case .redirectedAwayHeld: return machine.redirected(by: Self.away, task: task, isHeld: true)
        case .bodyBegan:
            machine.bodyBegan(task: task)
            return []
        case .challenged: return machine.challenged(task: task)
        case .rewind: return machine.bodyStreamWanted(task: task)
        case .completed: return machine.completed(task: task, head: Self.ok, error: nil)
        case .completedUnseen: return machine.completed(task: task, head: Self.away, error: nil)
        case .failed: return machine.completed(task: task, head: nil, error: URLError(.timedOut))
        case .invalidated: return machine.invalidated(task: task)
        case .staleHead: return machine.received(Self.ok, task: task - 1)
        case .staleBytes: return machine.received(Self.bytes, task: task - 1)
        case .staleSent: return machine.sent(5, expected: 10, task: task - 1)
        case .staleRedirect: return machine.redirected(by: Self.redirect, task: task - 1)
        case .follow: return machine.answered(.follow(machine.request.request), round: machine.round)
        case .followInvalid: return machine.answered(.follow(Self.invalidRequest), round: machine.round)
        case .authenticate:
            return machine.answered(.authenticate(user: "u", password: "p"), round: machine.round)
        case .deliver: return machine.answered(.deliver, round: machine.round)
        case .fail: return machine.answered(.fail(URLError(.userCancelledAuthentication)), round: machine.round)
        case .staleAnswer: return machine.answered(.deliver, round: machine.round - 1)
        default: return machine.abort(with: Failure())
        }
    }

    private static var invalidRequest: URLRequest {
        var request = URLRequest(url: URL(filePath: "/"))
        request.timeoutInterval = .infinity
        return request
    }
}

extension ExchangeStateMachine.Reaction {
    /// Each action, and then each step, in a few words.
    var summary: [String] { actions.map(\.summary) + steps.map(\.summary) }
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
        case .reportSent(let count, let total): "sent \(count)/\(total.map(String.init) ?? "?")"
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
        case .stepAside: "aside"
        case .comeBack: "back"
        case .ask: "ask for credential"
        case .pause(_, let attempt, _, _): "pause after \(attempt)"
        case .stop: "stop"
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
        case .new: "new"
        case .queued: "queued"
        case .preparing: "preparing"
        case .running(let run): run.head == nil ? "running" : "receiving"
        case .holding: "holding"
        case .stopping(_, .redirect): "stopping for redirect"
        case .stopping(_, .challenge): "stopping for challenge"
        case .stopping(_, .rewind): "stopping for rewind"
        case .deciding(.redirect): "deciding on redirect"
        case .deciding(.challenge): "deciding on challenge"
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
        Exchange(request, Settings(), to: receiver) { _, _ in }
    }
}
