import Foundation
import TestSupport
import Testing

@testable import DeferredNetworking

#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

@Suite("Transfer state machine", .ownThread, .timeLimit(.minutes(5)))
struct TransferStateMachineTests {
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

        var testDescription: String { state }
    }

    /// A task that waits for an answer gets one in every state.
    static let answered: [MachineEvent: String] = [
        .redirectedHeld: "answer nothing", .redirectedAwayHeld: "answer nothing",
    ]

    static let table: [Row] = [
        Row(
            "idle",
            after: [],
            [
                .start: "create, → creating",
                .cancel: "failure -999, release, → finished",
                .abort: "failure, release, → finished",
                .invalidated: "failure The client is sh, release, → finished",
            ]
        ),
        Row(
            "creating",
            after: [.start],
            [
                .created: "resume 1, → running",
                .cancel: "failure -999, → finished, creating",
                .abort: "failure, → finished, creating",
                .invalidated: "failure The client is sh, → finished, creating",
            ]
        ),
        Row(
            "running",
            after: [.start, .created],
            [
                .head: "head 200, received 0/3, → receiving",
                .sent: "sent 5/10, → running",
                .redirectedHeld: "ask 302, → holding",
                .redirectedAwayHeld: "answer nothing, → running",
                .redirected: "cancel 1, → stopping for redirect",
                .redirectedAway: "cancel 1, → stopping for redirect",
                .challenged: "cancel 1, → stopping for challenge",
                .rewind: "cancel 1, → stopping for rewind",
                .succeeded: "failure -1011, release, → finished",
                .succeededUnseen: "head 302, success 302, release, → finished",
                .failed: "failure -1001, release, → finished",
                .cancel: "failure -999, cancel 1, → finished, running",
                .abort: "failure, cancel 1, → finished, running",
                .invalidated: "failure The client is sh, release, → finished",
            ]
        ),
        Row(
            "receiving",
            after: [.start, .created, .head],
            [
                .head: "head 200, received 0/3, → receiving",
                .bytes: "3 bytes, received 3/3, → receiving",
                .sent: "sent 5/10, → receiving",
                .redirectedHeld: "ask 302, → holding",
                .redirectedAwayHeld: "answer nothing, → receiving",
                .redirected: "cancel 1, → stopping for redirect",
                .redirectedAway: "cancel 1, → stopping for redirect",
                .challenged: "cancel 1, → stopping for challenge",
                .rewind: "cancel 1, → stopping for rewind",
                .succeeded: "failure The body ended a, release, → finished",
                .succeededUnseen: "failure The body ended a, release, → finished",
                .failed: "failure -1001, release, → finished",
                .cancel: "failure -999, cancel 1, → finished, running",
                .abort: "failure, cancel 1, → finished, running",
                .invalidated: "failure The client is sh, release, → finished",
            ]
        ),
        Row(
            "holding",
            after: [.start, .created, .redirectedHeld],
            [
                .succeeded: "failure -1011, release, → finished",
                .succeededUnseen: "failure -1011, release, → finished",
                .failed: "failure -1001, release, → finished",
                .cancel: "failure -999, cancel 1, answer nothing, → finished, running",
                .abort: "failure, cancel 1, answer nothing, → finished, running",
                .invalidated: "failure The client is sh, release, → finished",
                .follow: "answer /, → running",
                .followInvalid: "failure The request cann, cancel 1, answer nothing, → finished, running",
                .authenticate: "answer nothing, → running",
                .deliver: "answer nothing, → running",
                .fail: "failure -1012, cancel 1, answer nothing, → finished, running",
            ]
        ),
        Row(
            "stopping for redirect",
            after: [.start, .created, .redirected],
            [
                .succeeded: "ask 302, → deciding on redirect",
                .succeededUnseen: "ask 302, → deciding on redirect",
                .failed: "ask 302, → deciding on redirect",
                .cancel: "failure -999, → finished, running",
                .abort: "failure, → finished, running",
                .invalidated: "failure The client is sh, release, → finished",
            ]
        ),
        Row(
            "stopping for challenge",
            after: [.start, .created, .head, .challenged],
            [
                .succeeded: "ask 401 after 0, → deciding on challenge",
                .succeededUnseen: "ask 401 after 0, → deciding on challenge",
                .failed: "ask 401 after 0, → deciding on challenge",
                .cancel: "failure -999, → finished, running",
                .abort: "failure, → finished, running",
                .invalidated: "failure The client is sh, release, → finished",
            ]
        ),
        Row(
            "stopping for rewind",
            after: [.start, .created, .rewind],
            [
                .succeeded: "failure -1021, release, → finished",
                .succeededUnseen: "failure -1021, release, → finished",
                .failed: "failure -1021, release, → finished",
                .cancel: "failure -999, → finished, running",
                .abort: "failure, → finished, running",
                .invalidated: "failure The client is sh, release, → finished",
            ]
        ),
        Row(
            "deciding on redirect",
            after: [.start, .created, .redirected, .failed],
            [
                .cancel: "failure -999, release, → finished",
                .abort: "failure, release, → finished",
                .invalidated: "failure The client is sh, release, → finished",
                .follow: "create, → creating",
                .followInvalid: "failure The request cann, release, → finished",
                .authenticate: "head 302, success 302, release, → finished",
                .deliver: "head 302, success 302, release, → finished",
                .fail: "failure -1012, release, → finished",
            ]
        ),
        Row(
            "deciding on challenge",
            after: [.start, .created, .head, .challenged, .failed],
            [
                .cancel: "failure -999, release, → finished",
                .abort: "failure, release, → finished",
                .invalidated: "failure The client is sh, release, → finished",
                .follow: "success 200, release, → finished",
                .followInvalid: "success 200, release, → finished",
                .authenticate: "create, → creating",
                .deliver: "success 200, release, → finished",
                .fail: "failure -1012, release, → finished",
            ]
        ),
        Row("finished", after: [.cancel], [:]),
        Row(
            "finished, creating",
            after: [.start, .cancel],
            [
                .created: "cancel 1, → finished, running"
            ]
        ),
        Row(
            "finished, running",
            after: [.start, .created, .cancel],
            [
                .succeeded: "release, → finished",
                .succeededUnseen: "release, → finished",
                .failed: "release, → finished",
                .invalidated: "release, → finished",
            ]
        ),
    ]

    @Test(arguments: table)
    func `every event does in every state exactly what the table says`(row: Row) {
        for event in MachineEvent.allCases {
            var fixture = MachineFixture(after: row.path)
            #expect(fixture.machine.state.summary == row.state)
            guard fixture.isPossible(event) else { continue }
            let effects = fixture.apply(event).map(\.summary) + ["→ " + fixture.machine.state.summary]
            let usual = (Self.answered[event].map { $0 + ", " } ?? "") + "→ " + row.state
            #expect(effects.joined(separator: ", ") == row.effects[event] ?? usual, "\(event)")
        }
    }

    #if os(macOS) || os(Linux)
    @Test func `a transfer that was started twice, or got a task that it didn't ask for, traps`() async {
        await #expect(processExitsWith: .failure) {
            var fixture = MachineFixture(after: [.start])
            _ = fixture.machine.start()
        }
        await #expect(processExitsWith: .failure) {
            var fixture = MachineFixture()
            _ = fixture.machine.created(task: 1)
        }
    }
    #endif

    @Test func `a cancelled transfer fails with the URL of its current request`() throws {
        var fixture = MachineFixture(after: [.start, .created, .redirected, .failed])
        let next = try #require(URL(string: "http://host/next"))
        _ = fixture.machine.answered(.follow(URLRequest(url: next)), round: fixture.machine.round)
        guard case .finish(.failure(let error as URLError)) = fixture.machine.cancel().first else {
            Issue.record("not failed")
            return
        }
        #expect(error.code == .cancelled)
        #expect(error.failingURL == next)
    }

    @Test func `a credential is sent once, and a second failure delivers the 401`() {
        var fixture = MachineFixture(after: [.start, .created, .head, .challenged, .failed])
        #expect(fixture.apply(.authenticate).map(\.summary) == ["create"])
        #expect(fixture.machine.request.request.value(forHTTPHeaderField: "Authorization") == "Basic dTpw")
        for event in [MachineEvent.created, .head, .challenged] {
            _ = fixture.apply(event)
        }
        #expect(fixture.apply(.failed).map(\.summary) == ["ask 401 after 1"])
        #expect(fixture.apply(.authenticate).map(\.summary) == ["success 200", "release"])
    }

    @Test func `a second final response starts the count again, and an interim one changes nothing`() {
        var fixture = MachineFixture(after: [.start, .created, .interim, .head, .bytes, .interim, .head])
        #expect(fixture.apply(.bytes).map(\.summary) == ["3 bytes", "received 3/3"])
        #expect(fixture.apply(.succeeded).map(\.summary) == ["success 200", "release"])
    }

    @Test func `a redirect whose target cannot be followed becomes the result`() {
        var fixture = MachineFixture(after: [.start, .created, .redirectedAway])
        #expect(fixture.apply(.failed).map(\.summary) == ["head 302", "success 302", "release"])
    }

    @Test func `a body that is sent once more counts from its beginning, and never as more than it is`() {
        var fixture = MachineFixture(after: [.start, .created, .bodyBegan, .sent])
        #expect(fixture.apply(.bodyBegan).isEmpty)
        #expect(fixture.apply(.sent).map(\.summary) == ["sent 5/10"])
        #expect(fixture.apply(.sent).map(\.summary) == ["sent 10/10"])
        #expect(fixture.apply(.sent).map(\.summary) == ["sent 10/10"])
    }

    @Test func `a redirected task stays the same, and counts its new request from zero`() {
        var fixture = MachineFixture(after: [.start, .created, .sent, .redirectedHeld])
        #expect(fixture.apply(.follow).map(\.summary) == ["answer /"])
        #expect(fixture.apply(.sent).map(\.summary) == ["sent 5/10"])
        #expect(fixture.apply(.head).map(\.summary) == ["head 200", "received 0/3"])
    }

    @Test func `the twenty-first redirect of a continuing task fails, and releases it`() {
        var fixture = MachineFixture(after: [.start, .created])
        for _ in 1...20 {
            #expect(fixture.apply(.redirectedHeld).map(\.summary) == ["ask 302"])
            _ = fixture.apply(.follow)
        }
        #expect(fixture.apply(.redirectedHeld).map(\.summary) == ["failure -1007", "cancel 1", "answer nothing"])
        #expect(fixture.apply(.failed).map(\.summary) == ["release"])
    }

    @Test func `the twenty-first redirect fails`() {
        var fixture = MachineFixture(after: [.start])
        for _ in 1...20 {
            for event in [MachineEvent.created, .redirected, .failed, .follow] {
                _ = fixture.apply(event)
            }
        }
        _ = fixture.apply(.created)
        _ = fixture.apply(.redirected)
        #expect(fixture.apply(.failed).map(\.summary) == ["failure -1007", "release"])
    }
}
