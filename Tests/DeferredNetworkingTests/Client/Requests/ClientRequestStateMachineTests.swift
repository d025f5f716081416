import DeferredTask
import Foundation
import TestSupport
import Testing

@testable import DeferredNetworking

#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

/// The events of a request, as values: for tables and for random sequences.
private enum RequestEvent: String, CaseIterable, Sendable {
    case begin, admitted, succeeded, refused, busy, failed, delivered, found, notFound, notAnswered, paused, abort
    case streamed, brokeOff, staleEnd, staleAnswer, stalePause, staleStreamEnd
}

/// A machine for a PUT that is attempted twice, and answers a challenge.
private struct RequestFixture {
    static let url = URL(string: "http://host/") ?? URL(filePath: "/")

    var machine: ClientRequestStateMachine<Int>

    init(after events: [RequestEvent] = [], yieldsPlace: Bool = false) {
        var request = URLRequest(url: Self.url)
        request.httpMethod = "PUT"
        var retries = URLClient.Retries()
        retries.attempts = 2
        retries.random = { 1 }
        retries.yieldsPlace = yieldsPlace
        machine = ClientRequestStateMachine(
            .checked(request),
            RequestPolicies(retries: retries, authentication: .custom { _ in .success(nil) })
        )
        for event in events {
            _ = apply(event)
        }
    }

    mutating func apply(_ event: RequestEvent) -> [ClientRequestStateMachine<Int>.Action] {
        let round = machine.round
        switch event {
        case .begin: return machine.begin()
        case .admitted: return machine.admitted()
        case .succeeded: return end(.success(200), status: 200, round: round)
        case .refused: return end(.success(401), status: 401, round: round)
        case .busy: return end(.success(503), status: 503, round: round)
        case .failed: return end(.failure(URLError(.networkConnectionLost)), status: nil, round: round)
        case .delivered: return machine.delivered(200, round: round)
        case .streamed: return machine.streamEnded(nil, round: round)
        case .brokeOff: return machine.streamEnded(URLError(.networkConnectionLost), round: round)
        case .staleStreamEnd: return machine.streamEnded(nil, round: round - 1)
        case .found: return machine.answered(.success(.bearer(token: "\(round)")), round: round)
        case .notFound: return machine.answered(.success(nil), round: round)
        case .notAnswered: return machine.answered(.failure(URLError(.timedOut)), round: round)
        case .paused: return machine.pauseEnded(round: round)
        case .abort: return machine.abort(with: URLError(.cancelled))
        case .staleEnd: return end(.success(200), status: 200, round: round - 1)
        case .staleAnswer: return machine.answered(.success(nil), round: round - 1)
        case .stalePause: return machine.pauseEnded(round: round - 1)
        }
    }

    private mutating func end(
        _ result: Result<Int, any Error>,
        status: Int?,
        round: Int
    ) -> [ClientRequestStateMachine<Int>.Action] {
        let head = status.map { ResponseHead.made($0, from: Self.url.absoluteString) }
        let outcome = ClientRequestStateMachine<Int>.Outcome(result: result, head: head)
        let pause = machine.pause(after: outcome, now: Date(timeIntervalSince1970: 0))
        return machine.attemptEnded(outcome, round: round, pause: pause)
    }
}

extension ClientRequestStateMachine<Int>.Action {
    fileprivate var summary: String {
        switch self {
        case .arrive: "arrive"
        case .startAttempt(_, let round): "start \(round)"
        case .ask(_, let round): "ask \(round)"
        case .pause(_, let attempt, let round, _): "pause \(round) after \(attempt)"
        case .stepAside: "aside"
        case .comeBack: "back"
        case .stop: "stop"
        case .deliver(let value): "deliver \(value)"
        case .finish(.success(let value)): "success \(value)"
        case .finish(.failure(let error)): "failure \((error as? URLError)?.code.rawValue ?? 0)"
        case .streamed(let error): error == nil ? "streamed" : "broke off"
        case .leave: "leave"
        }
    }
}

@Suite("Client request state machine", .ownThread, .timeLimit(.minutes(5)))
struct ClientRequestStateMachineTests {
    /// For each state, the events that lead to it, and the events that have an effect there.
    fileprivate static let table: [(way: [RequestEvent], effects: [RequestEvent: [String]])] = [
        ([], [.begin: ["arrive"], .abort: ["failure -999"]]),
        ([.begin], [.admitted: ["start 1"], .abort: ["failure -999", "leave"]]),
        (
            [.begin, .admitted],
            [
                .succeeded: ["success 200", "leave"], .refused: ["ask 2"], .busy: ["pause 2 after 1"],
                .failed: ["pause 2 after 1"], .delivered: ["deliver 200"], .abort: ["stop", "failure -999", "leave"],
            ]
        ),
        (
            [.begin, .admitted, .refused],
            [
                .found: ["start 3"], .notFound: ["success 401", "leave"], .notAnswered: ["failure -1001", "leave"],
                .abort: ["stop", "failure -999", "leave"],
            ]
        ),
        ([.begin, .admitted, .busy], [.paused: ["start 3"], .abort: ["stop", "failure -999", "leave"]]),
        (
            [.begin, .admitted, .busy, .paused],
            [
                .succeeded: ["success 200", "leave"], .refused: ["ask 4"], .busy: ["success 503", "leave"],
                .failed: ["failure -1005", "leave"], .delivered: ["deliver 200"],
                .abort: ["stop", "failure -999", "leave"],
            ]
        ),
        (
            [.begin, .admitted, .delivered],
            [
                .streamed: ["streamed", "leave"], .brokeOff: ["broke off", "leave"],
                .abort: ["stop", "broke off", "leave"],
            ]
        ),
        ([.begin, .admitted, .succeeded], [.admitted: ["leave"]]),
        ([.begin, .abort], [.admitted: ["leave"]]),
        ([.abort], [.admitted: ["leave"]]),
    ]

    @Test func `every event in every state does what the table says`() {
        for (way, effects) in Self.table {
            for event in RequestEvent.allCases {
                var fixture = RequestFixture(after: way)
                let summary = fixture.apply(event).map(\.summary)
                #expect(summary == effects[event] ?? [], "\(event) after \(way)")
            }
        }
    }

    @Test func `a request that yields its place waits for its turn again`() {
        var fixture = RequestFixture(after: [.begin, .admitted], yieldsPlace: true)
        #expect(fixture.apply(.failed).map(\.summary) == ["aside", "pause 2 after 1"])
        #expect(fixture.apply(.paused).map(\.summary) == ["back"])
        #expect(fixture.apply(.paused).isEmpty)
        #expect(fixture.apply(.admitted).map(\.summary) == ["start 3"])
        #expect(fixture.apply(.busy).map(\.summary) == ["success 503", "leave"])

        var cancelled = RequestFixture(after: [.begin, .admitted, .failed, .paused], yieldsPlace: true)
        #expect(cancelled.apply(.abort).map(\.summary) == ["failure -999", "leave"])
        #expect(cancelled.apply(.admitted).map(\.summary) == ["leave"])
    }

    @Test func `in random sequences of events a request ends once and leaves once`() {
        let others = RequestEvent.allCases.filter { $0 != .abort && $0 != .begin }
        for seed in 0..<UInt64(rounds(20_000)) {
            var random = SeededGenerator(seed: seed)
            var fixture = RequestFixture(after: [.begin, .admitted], yieldsPlace: seed % 2 == 0)
            var ends = 0
            var leaves = 0
            var starts = 1
            var lateActions = 0
            var history: [RequestEvent] = []
            for step in 0..<31 {
                // Final events are rarer than the others, so that sequences get further. At the end of each, an
                // abortion ends it.
                let isAbortion = step == 30 || random.next() % 16 == 0
                let event = isAbortion ? .abort : others[Int(random.next() % UInt64(others.count))]
                history.append(event)
                for action in fixture.apply(event) {
                    switch action {
                    // A turn that comes after the end is given back.
                    case .leave where leaves > 0 && event == .admitted: continue
                    case _ where leaves > 0: lateActions += 1
                    case .finish, .deliver: ends += 1
                    case .leave: leaves += 1
                    case .startAttempt: starts += 1
                    case .arrive, .ask, .pause, .stepAside, .comeBack, .stop, .streamed: break
                    }
                }
            }
            // Two starts by the retry policy, and five for credentials.
            guard ends == 1, leaves == 1, lateActions == 0, starts <= 7 else {
                Issue.record("seed \(seed): \(ends) ends, \(leaves) leaves, \(starts) starts: \(history)")
                return
            }
        }
    }
}
