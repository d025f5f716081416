import Foundation

@testable import DeferredNetworking

#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

/// The events of a transfer, as values: for tables and for random sequences.
enum MachineEvent: String, CaseIterable, Sendable {
    case start, created, interim, head, bytes, sent, bodyBegan, redirected, redirectedAway, challenged, rewind
    case redirectedHeld, redirectedAwayHeld
    case succeeded, succeededUnseen, failed, staleHead, staleBytes, staleSent, staleCompletion, staleRedirect
    case cancel, abort, invalidated, follow, followInvalid, authenticate, deliver, fail, staleAnswer
}

/// A machine with names for its states and actions that are short enough for a table.
struct MachineFixture {
    static let url = URL(string: "http://host/") ?? URL(filePath: "/")
    static let interim = response(103)
    static let ok = response(200, ["Content-Length": "3"])
    static let redirect = response(302, ["Location": "/next"])
    static let away = response(302, ["Location": "ftp://host/"])
    static let bytes = Data("abc".utf8)

    struct Failure: Error {}

    var machine: TransferStateMachine
    private(set) var newestTask = 0
    private(set) var isCreationPending = false

    init() {
        machine = TransferStateMachine(request: .checked(URLRequest(url: Self.url)))
    }

    init(after events: [MachineEvent]) {
        self.init()
        for event in events {
            _ = apply(event)
        }
    }

    private static func response(_ status: Int, _ headers: [String: String] = [:]) -> ResponseHead {
        .made(status, headers, from: url.absoluteString)
    }

    /// Returns true if the storage can cause the event in this state.
    func isPossible(_ event: MachineEvent) -> Bool {
        switch (event, machine.state) {
        case (.created, _): isCreationPending
        case (.start, .idle), (.start, .finished): true
        case (.start, _): false
        case (.redirectedHeld, .holding), (.redirectedAwayHeld, .holding): false
        default: true
        }
    }

    mutating func apply(_ event: MachineEvent) -> [TransferStateMachine.Action] {
        let actions = perform(event)
        for case .createTask in actions {
            isCreationPending = true
        }
        return actions
    }

    private mutating func perform(_ event: MachineEvent) -> [TransferStateMachine.Action] {
        switch event {
        case .start: return machine.start()
        case .created:
            isCreationPending = false
            newestTask += 1
            return machine.created(task: newestTask)
        case .interim: return machine.received(Self.interim, task: newestTask)
        case .head: return machine.received(Self.ok, task: newestTask)
        case .bytes: return machine.received(Self.bytes, task: newestTask)
        case .sent: return machine.sent(5, expected: 10, task: newestTask)
        case .redirected: return machine.redirected(by: Self.redirect, task: newestTask)
        case .redirectedAway: return machine.redirected(by: Self.away, task: newestTask)
        case .redirectedHeld: return machine.redirected(by: Self.redirect, task: newestTask, isHeld: true)
        case .redirectedAwayHeld: return machine.redirected(by: Self.away, task: newestTask, isHeld: true)
        case .bodyBegan: return machine.bodyBegan(task: newestTask)
        case .challenged: return machine.challenged(task: newestTask)
        case .rewind: return machine.bodyStreamWanted(task: newestTask)
        case .succeeded: return machine.completed(task: newestTask, response: Self.ok, error: nil)
        case .succeededUnseen: return machine.completed(task: newestTask, response: Self.away, error: nil)
        case .failed: return machine.completed(task: newestTask, response: nil, error: URLError(.timedOut))
        case .staleHead: return machine.received(Self.ok, task: newestTask - 1)
        case .staleBytes: return machine.received(Self.bytes, task: newestTask - 1)
        case .staleSent: return machine.sent(5, expected: 10, task: newestTask - 1)
        case .staleCompletion: return machine.completed(task: newestTask - 1, response: nil, error: nil)
        case .staleRedirect: return machine.redirected(by: Self.redirect, task: newestTask - 1)
        case .cancel: return machine.cancel()
        case .abort: return machine.abort(with: Failure())
        case .invalidated: return machine.invalidated()
        case .follow: return machine.answered(.follow(machine.request.request), round: machine.round)
        case .followInvalid: return machine.answered(.follow(Self.invalidRequest), round: machine.round)
        case .authenticate:
            return machine.answered(.authenticate(user: "u", password: "p"), round: machine.round)
        case .deliver: return machine.answered(.deliver, round: machine.round)
        case .fail: return machine.answered(.fail(URLError(.userCancelledAuthentication)), round: machine.round)
        case .staleAnswer: return machine.answered(.deliver, round: machine.round - 1)
        }
    }

    private static var invalidRequest: URLRequest {
        var request = URLRequest(url: URL(filePath: "/"))
        request.timeoutInterval = .infinity
        return request
    }
}

extension TransferStateMachine.Action {
    /// The action in two or three words.
    var summary: String {
        switch self {
        case .storeCookies(let response): "cookies \(response.status.code)"
        case .createTask: "create"
        case .resumeTask(let task): "resume \(task)"
        case .cancelTask(let task): "cancel \(task)"
        case .answerRedirect(let request): "answer " + (request?.url.path ?? "nothing")
        case .askAboutRedirect(let response, _, _): "ask \(response.status.code)"
        case .askAboutChallenge(let failures, _): "ask 401 after \(failures)"
        case .deliverHead(let response): "head \(response.status.code)"
        case .deliverBytes(let bytes): "\(bytes.count) bytes"
        case .report(let progress):
            "\(progress.direction) \(progress.completed)/\(progress.total.map(String.init) ?? "?")"
        case .finish(.success(let response)): "success \(response.status.code)"
        case .finish(.failure(let error as URLError)): "failure \(error.code.rawValue)"
        case .finish(.failure(let error as URLClientError)): "failure \("\(error)".prefix(16))"
        case .finish(.failure): "failure"
        case .release: "release"
        }
    }
}

extension TransferStateMachine.State {
    /// The state, with the details that distinguish states of the same case.
    var summary: String {
        switch self {
        case .idle: "idle"
        case .creating: "creating"
        case .running(let exchange): exchange.response == nil ? "running" : "receiving"
        case .holding: "holding"
        case .stopping(_, .redirect): "stopping for redirect"
        case .stopping(_, .challenge): "stopping for challenge"
        case .stopping(_, .rewind): "stopping for rewind"
        case .deciding(.redirect): "deciding on redirect"
        case .deciding(.challenge): "deciding on challenge"
        case .finished(.nothing): "finished"
        case .finished(.creation): "finished, creating"
        case .finished(.task): "finished, running"
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
