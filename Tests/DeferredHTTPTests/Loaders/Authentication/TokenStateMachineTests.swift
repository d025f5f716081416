import TestSupport
import Testing

@testable import DeferredHTTP

/// Tests every state with every event.
@Suite(.ownThread, .timeLimit(.minutes(1)))
struct TokenStateMachineTests {
    private typealias Machine = TokenStateMachine

    private static let first = BearerToken(value: "one", number: 1)

    private enum Start: CaseIterable {
        case missing, valid, refreshing

        var machine: Machine {
            var machine = Machine(self == .missing ? nil : "one")
            if self == .refreshing { _ = machine.wanted(1, refused: first) }
            return machine
        }
    }

    private func text(_ action: Machine.Action) -> String {
        switch action {
        case .use(let token): "use \(token.value)"
        case .wait: "wait"
        case .refresh(let round): "refresh \(round)"
        }
    }

    @Test(arguments: [nil, first, BearerToken(value: "zero", number: 0)])
    func `a request gets a token that was not refused, or waits`(refused: BearerToken?) {
        for start in Start.allCases {
            var machine = start.machine
            let action = text(machine.wanted(9, refused: refused))
            switch start {
            case .missing: #expect(action == "refresh 1")
            case .valid: #expect(action == (refused == Self.first ? "refresh 1" : "use one"))
            case .refreshing: #expect(action == "wait")
            }
        }
    }

    @Test func `a refresh serves all that wait, in order, once`() {
        for start in Start.allCases {
            var machine = start.machine
            for ticket in 10..<13 as Range<UInt64> { _ = machine.wanted(ticket, refused: Self.first) }
            let (tickets, token) = machine.refreshed("two", round: 1)
            #expect(tickets == (start == .refreshing ? [1] : []) + [10, 11, 12], "\(start)")
            #expect(token?.value == "two")
            #expect(machine.refreshed("three", round: 1).tickets.isEmpty)
            #expect(text(machine.wanted(9, refused: Self.first)) == "use two")
        }
    }

    @Test func `after a failed refresh the next one begins another`() {
        var machine = Start.refreshing.machine
        let (tickets, token) = machine.refreshed(nil, round: 1)
        #expect(tickets == [1] && token == nil)
        #expect(text(machine.wanted(9, refused: nil)) == "refresh 2")
    }

    @Test func `only a waiting request can be cancelled, and only once`() {
        for start in Start.allCases {
            var machine = start.machine
            let results = [machine.cancelled(1), machine.cancelled(1)]
            #expect(results == [start == .refreshing, false], "\(start)")
        }
    }

    @Test func `a reset forgets the token and a running refresh, and refreshes for waiting requests`() {
        for start in Start.allCases {
            var machine = start.machine
            #expect(machine.reset() == (start == .refreshing ? 2 : nil), "\(start)")
            #expect(machine.refreshed("old", round: 1).tickets.isEmpty)
            let action = text(machine.wanted(9, refused: nil))
            #expect(action == (start == .refreshing ? "wait" : "refresh 1"), "\(start)")
        }
        var machine = Start.refreshing.machine
        _ = machine.cancelled(1)
        #expect(machine.reset() == nil)
        #expect(machine.refreshed("old", round: 1).token == nil)
        #expect(text(machine.wanted(9, refused: nil)) == "refresh 2")
    }
}
