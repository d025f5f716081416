import Foundation
import TestSupport
import Testing

@testable import DeferredNetworking

#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

@Suite("Exchange state machine", .ownThread, .timeLimit(.minutes(5)))
struct ExchangeStateMachineTests {
    struct Row: Sendable, CustomTestStringConvertible {
        let state: String
        let path: [MachineEvent]

        /// The effect of each event. Events that are not listed have none.
        let effects: [MachineEvent: String]

        init(_ state: String, after path: [MachineEvent], _ effects: [MachineEvent: String]) {
            self.state = state
            self.path = path
            self.effects = effects
        }

        var testDescription: String { "\(state) after \(path.map(\.rawValue))" }
    }

    private static let running: [MachineEvent] = [.begin, .admitted, .prepared]
    private static let judging = running + [.head, .bytes, .completed]
    private static let finishing = judging + [.finishes]

    /// A task that waits for an answer gets one in every state.
    static let answered: [MachineEvent: String] = [
        .redirectedHeld: "answer nothing", .redirectedAwayHeld: "answer nothing",
    ]

    /// While a response comes that was not delivered as a stream.
    private static let receiving: [MachineEvent: String] = [
        .head: "head 200, → receiving",
        .bytes: "3 bytes, 3/3, → receiving",
        .sent: "sent 5/10, → receiving",
        .redirectedHeld: "ask 307, → holding",
        .redirectedAwayHeld: "answer nothing, → receiving",
        .redirected: "cancel 1, → stopping for redirect",
        .redirectedAway: "cancel 1, → stopping for redirect",
        .challenged: "cancel 1, → stopping for challenge",
        .rewind: "cancel 1, → stopping for rewind",
        .completed: "end The body ended a, → judging",
        .completedUnseen: "end The body ended a, → judging",
        .failed: "end -1001, → judging",
        .cancel: "end -999, cancel 1, failure -999, → ended",
        .abort: "end failure, cancel 1, → judging",
        .invalidated: "end The client is sh, → judging",
        .delivered: "deliver, → receiving",
    ]

    static let table: [Row] = [
        Row(
            "queued",
            after: [],
            [
                .begin: "arrive, → queued", .admitted: "prepare, → preparing",
                .cancel: "release, failure -999, → ended", .delivered: "deliver, → queued",
            ]
        ),
        Row(
            "preparing",
            after: [.begin, .admitted],
            [
                .prepared: "start 1, → running",
                .cancel: "end -999, release, failure -999, → ended",
                .abort: "end failure, → judging",
                .delivered: "deliver, → preparing",
            ]
        ),
        Row(
            "running",
            after: running,
            [
                .interim: "interim 103, → running",
                .head: "head 200, → receiving",
                .sent: "sent 5/10, → running",
                .redirectedHeld: "ask 307, → holding",
                .redirectedAwayHeld: "answer nothing, → running",
                .redirected: "cancel 1, → stopping for redirect",
                .redirectedAway: "cancel 1, → stopping for redirect",
                .challenged: "cancel 1, → stopping for challenge",
                .rewind: "cancel 1, → stopping for rewind",
                .completed: "end -1011, → judging",
                .completedUnseen: "head 302, end 302, → judging",
                .failed: "end -1001, → judging",
                .cancel: "end -999, cancel 1, failure -999, → ended",
                .abort: "end failure, cancel 1, → judging",
                .invalidated: "end The client is sh, → judging",
                .delivered: "deliver, → running",
            ]
        ),
        Row("receiving", after: running + [.head], receiving),
        Row(
            "receiving",
            after: running + [.head, .delivered],
            receiving.merging([.cancel: "end -999, cancel 1, broke off, → ended", .delivered: "→ receiving"]) {
                $1
            }
        ),
        Row(
            "holding",
            after: running + [.redirectedHeld],
            [
                .completed: "end -1011, → judging",
                .completedUnseen: "end -1011, → judging",
                .failed: "end -1001, → judging",
                .cancel: "end -999, cancel 1, answer nothing, failure -999, → ended",
                .abort: "end failure, cancel 1, answer nothing, → judging",
                .invalidated: "end The client is sh, → judging",
                .follow: "answer /, → running",
                .followInvalid: "end The request cann, cancel 1, answer nothing, → judging",
                .authenticate: "answer nothing, → running",
                .deliver: "answer nothing, → running",
                .fail: "end -1012, cancel 1, answer nothing, → judging",
                .delivered: "deliver, → holding",
            ]
        ),
        Row(
            "stopping for redirect",
            after: running + [.redirected],
            [
                .completed: "ask 307, → deciding on redirect",
                .completedUnseen: "ask 307, → deciding on redirect",
                .failed: "ask 307, → deciding on redirect",
                .cancel: "end -999, failure -999, → ended",
                .abort: "end failure, → judging",
                .invalidated: "end The client is sh, → judging",
                .delivered: "deliver, → stopping for redirect",
            ]
        ),
        Row(
            "stopping for challenge",
            after: running + [.head, .challenged],
            [
                .completed: "ask 401 after 0, → deciding on challenge",
                .completedUnseen: "ask 401 after 0, → deciding on challenge",
                .failed: "ask 401 after 0, → deciding on challenge",
                .cancel: "end -999, failure -999, → ended",
                .abort: "end failure, → judging",
                .invalidated: "end The client is sh, → judging",
                .delivered: "deliver, → stopping for challenge",
            ]
        ),
        Row(
            "stopping for rewind",
            after: running + [.rewind],
            [
                .completed: "end -1021, → judging",
                .completedUnseen: "end -1021, → judging",
                .failed: "end -1021, → judging",
                .cancel: "end -999, failure -999, → ended",
                .abort: "end failure, → judging",
                .invalidated: "end The client is sh, → judging",
                .delivered: "deliver, → stopping for rewind",
            ]
        ),
        Row(
            "deciding on redirect",
            after: running + [.redirected, .failed],
            [
                .cancel: "end -999, release, failure -999, → ended",
                .abort: "end failure, → judging",
                .follow: "start 3, → running",
                .followInvalid: "end The request cann, → judging",
                .authenticate: "head 307, end 307, → judging",
                .deliver: "head 307, end 307, → judging",
                .fail: "end -1012, → judging",
                .delivered: "deliver, → deciding on redirect",
            ]
        ),
        Row(
            "deciding on challenge",
            after: running + [.head, .challenged, .failed],
            [
                .cancel: "end -999, release, failure -999, → ended",
                .abort: "end failure, → judging",
                .follow: "end 200, → judging",
                .followInvalid: "end 200, → judging",
                .authenticate: "start 3, → running",
                .deliver: "end 200, → judging",
                .fail: "end -1012, → judging",
                .delivered: "deliver, → deciding on challenge",
            ]
        ),
        Row(
            "judging",
            after: judging,
            [
                .finishes: "→ finishing",
                .succeeded: "release, success 200, → ended",
                .refused: "ask for credential, → asking",
                .busy: "release, success 503, → ended",
                .lost: "release, failure -1005, → ended",
                .cancel: "release, failure -999, → ended",
                .delivered: "deliver, → judging",
            ]
        ),
        Row(
            "finishing",
            after: finishing,
            [
                .startOver: "prepare again, → preparing",
                .succeeded: "release, success 200, → ended",
                .refused: "ask for credential, → asking",
                .busy: "pause after 1, → pausing",
                .lost: "pause after 1, → pausing",
                .delivered: "deliver, → finishing",
            ]
        ),
        // Too late for a success, and for nothing else.
        Row(
            "finishing",
            after: finishing + [.cancel],
            [
                .startOver: "release, failure -999, → ended",
                .succeeded: "release, success 200, → ended",
                .refused: "release, failure -999, → ended",
                .busy: "release, failure -999, → ended",
                .lost: "release, failure -999, → ended",
                .delivered: "deliver, → finishing",
            ]
        ),
        Row(
            "finishing",
            after: judging + [.delivered, .finishes],
            [
                .startOver: "prepare again, → preparing",
                .streamed: "release, streamed, → ended",
                .brokeOff: "release, broke off, → ended",
            ]
        ),
        // The task of an attempt that was aborted has not ended.
        Row(
            "finishing",
            after: running + [.abort, .finishes],
            [
                .startOver: "prepare again, → preparing",
                .succeeded: "success 200, → ended",
                .refused: "ask for credential, → asking",
                .busy: "pause after 1, → pausing",
                .lost: "pause after 1, → pausing",
                .delivered: "deliver, → finishing",
            ]
        ),
        Row(
            "asking",
            after: finishing + [.refused],
            [
                .found: "prepare, → preparing",
                .notFound: "release, success 401, → ended",
                .notAnswered: "release, failure -1001, → ended",
                .cancel: "release, failure -999, → ended",
                .delivered: "deliver, → asking",
            ]
        ),
        Row(
            "pausing",
            after: finishing + [.busy],
            [
                .paused: "prepare, → preparing",
                .cancel: "release, failure -999, → ended",
                .delivered: "deliver, → pausing",
            ]
        ),
        Row(
            "finishing",
            after: finishing + [.busy, .paused, .prepared, .abort, .finishes],
            [
                .startOver: "prepare again, → preparing",
                .succeeded: "success 200, → ended",
                .refused: "ask for credential, → asking",
                .busy: "success 503, → ended",
                .lost: "failure -1005, → ended",
                .delivered: "deliver, → finishing",
            ]
        ),
        Row("ended", after: [.cancel], [.admitted: "leave, → ended"]),
        Row("ended", after: [.begin, .cancel], [.admitted: "leave, → ended"]),
        Row("ended", after: finishing + [.succeeded], [.admitted: "leave, → ended"]),
        Row(
            "ended",
            after: running + [.cancel],
            [
                .admitted: "leave, → ended",
                .completed: "release, → ended",
                .completedUnseen: "release, → ended",
                .failed: "release, → ended",
                .invalidated: "release, → ended",
            ]
        ),
    ]

    @Test(arguments: table)
    func `every event does in every state exactly what the table says`(row: Row) {
        for event in MachineEvent.allCases {
            var fixture = MachineFixture(after: row.path)
            #expect(fixture.machine.state.summary == row.state)
            // A task ends once, and there has to be one.
            let isEnded = !row.path.contains(.prepared) || row.path.contains(where: MachineEvent.ends.contains)
            if isEnded, MachineEvent.ends.contains(event) { continue }
            guard fixture.isPossible(event) else { continue }
            let effects = fixture.apply(event).summary + ["→ " + fixture.machine.state.summary]
            let usual = (Self.answered[event].map { $0 + ", " } ?? "") + "→ " + row.state
            #expect(effects.joined(separator: ", ") == row.effects[event] ?? usual, "\(event)")
        }
    }

    @Test func `a credential is sent once, and a second failure delivers the 401`() {
        var fixture = MachineFixture(after: Self.running + [.head, .challenged, .failed])
        #expect(fixture.apply(.authenticate).summary == ["start 3"])
        #expect(fixture.machine.request.request.value(forHTTPHeaderField: "Authorization") == "Basic dTpw")
        for event in [MachineEvent.head, .challenged] { _ = fixture.apply(event) }
        #expect(fixture.apply(.failed).summary == ["ask 401 after 1"])
        #expect(fixture.apply(.authenticate).summary == ["end 200"])
    }

    @Test func `a second final response starts the count again, and an interim one comes only before the first`() {
        var fixture = MachineFixture(after: Self.running + [.interim, .head, .bytes, .interim, .head])
        #expect(fixture.apply(.bytes).summary == ["3 bytes, 3/3"])
        #expect(fixture.apply(.completed).summary == ["end 200"])
    }

    @Test func `a response that ends before the request's body is whole, and its task ends later`() {
        var fixture = MachineFixture(after: Self.running + [.answered, .head, .answered])
        #expect(fixture.apply(.bytes).summary == ["3 bytes, 3/3"])
        #expect(fixture.apply(.answered).summary == ["answered 200"])
        #expect(fixture.apply(.sent).summary == ["sent 5/10"])
        #expect(fixture.apply(.completed).summary == ["end 200"])
    }

    @Test func `a redirect whose target cannot be followed becomes the result`() {
        var fixture = MachineFixture(after: Self.running + [.redirectedAway])
        #expect(fixture.apply(.failed).summary == ["head 302", "end 302"])
    }

    @Test func `a body that is sent once more counts from its beginning, and never as more than it is`() {
        var fixture = MachineFixture(after: Self.running + [.bodyBegan, .sent])
        #expect(fixture.apply(.bodyBegan).summary.isEmpty)
        #expect(fixture.apply(.sent).summary == ["sent 5/10"])
        #expect(fixture.apply(.sent).summary == ["sent 10/10"])
        #expect(fixture.apply(.sent).summary == ["sent 10/10"])
    }

    @Test func `a redirected task stays the same, and counts its new request from zero`() {
        var fixture = MachineFixture(after: Self.running + [.sent, .redirectedHeld])
        #expect(fixture.apply(.follow).summary == ["answer /"])
        #expect(fixture.apply(.sent).summary == ["sent 5/10"])
        #expect(fixture.apply(.head).summary == ["head 200"])
    }

    @Test func `the twenty-first redirect of a continuing task fails, and releases it`() {
        var fixture = MachineFixture(after: Self.running)
        for _ in 1...20 {
            #expect(fixture.apply(.redirectedHeld).summary == ["ask 307"])
            _ = fixture.apply(.follow)
        }
        #expect(fixture.apply(.redirectedHeld).summary == ["end -1007", "cancel 1", "answer nothing"])
        _ = fixture.apply(.finishes)
        #expect(fixture.apply(.lost).summary == ["pause after 1"])
        #expect(fixture.apply(.failed).summary.isEmpty)
    }

    @Test func `the twenty-first redirect fails`() {
        var fixture = MachineFixture(after: Self.running)
        for _ in 1...20 {
            for event in [MachineEvent.redirected, .failed, .follow] { _ = fixture.apply(event) }
        }
        _ = fixture.apply(.redirected)
        #expect(fixture.apply(.failed).summary == ["end -1007"])
    }

    @Test func `a request that yields its place waits for its turn again`() {
        var fixture = MachineFixture(after: Self.finishing, yieldsPlace: true)
        #expect(fixture.apply(.lost).summary == ["pause after 1"])
        #expect(fixture.apply(.paused).summary == ["back"])
        #expect(fixture.apply(.paused).summary.isEmpty)
        #expect(fixture.apply(.admitted).summary == ["prepare"])
        for event in [MachineEvent.prepared, .failed, .finishes] { _ = fixture.apply(event) }
        #expect(fixture.apply(.busy).summary == ["release", "success 503"])

        var cancelled = MachineFixture(after: Self.finishing + [.lost, .paused], yieldsPlace: true)
        #expect(cancelled.apply(.cancel).summary == ["release", "failure -999"])
        #expect(cancelled.apply(.admitted).summary == ["leave"])
    }

    @Test func `the end of an earlier attempt's task releases nothing while another one runs`() {
        var fixture = MachineFixture(after: Self.running + [.abort, .finishes, .lost, .paused, .prepared])
        fixture.machine.completed(task: 1, head: nil, error: nil)
        #expect(fixture.machine.takeReaction().summary.isEmpty)
        #expect(fixture.machine.isCurrent(fixture.task))
        _ = fixture.apply(.cancel)
        #expect(fixture.apply(.failed).summary == ["release"])
    }
}
