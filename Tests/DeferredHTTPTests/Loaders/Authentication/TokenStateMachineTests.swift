import TestSupport
import Testing

@testable import DeferredHTTP

/// Tests every state with every event.
@Suite(.ownThread, .timeLimit(.minutes(1)))
struct TokenStateMachineTests {
    private typealias Machine = TokenStateMachine

    private enum Start: CaseIterable {
        case missing, valid, refreshing, stopping

        /// The machine in this state, and its refresh.
        var machine: (Machine, TokenRefresh) {
            var machine = Machine(self == .missing ? nil : "one")
            var current = TokenRefresh()
            if self == .refreshing || self == .stopping {
                if case .refresh(let refresh) = machine.wanted(1, refused: machine.current) { current = refresh }
            }
            if self == .stopping { _ = machine.reset() }
            return (machine, current)
        }

        var hasRefresh: Bool { self == .refreshing || self == .stopping }
    }

    private func text(_ action: Machine.Action) -> String {
        switch action {
        case .use(let token): "use \(token.value)"
        case .wait: "wait"
        case .refresh: "refresh"
        }
    }

    private func text(_ ending: Machine.Ending) -> String {
        switch ending {
        case .nothing: "nothing"
        case .serve(let tickets): "\(tickets)"
        case .refresh: "refresh"
        }
    }

    @Test(arguments: [nil, "current", "one"])
    func `a request gets a token that was not refused, or waits`(name: String?) {
        for start in Start.allCases {
            var (machine, _) = start.machine
            // An earlier token may have had the same value.
            let refused = name == "current" ? machine.current : name.map { BearerToken($0) }
            let action = text(machine.wanted(9, refused: refused))
            switch start {
            case .missing: #expect(action == "refresh")
            case .valid: #expect(action == (name == "current" ? "refresh" : "use one"))
            case .refreshing, .stopping: #expect(action == "wait")
            }
        }
    }

    @Test func `a refresh serves all that wait, in order, once`() {
        var (machine, refresh) = Start.refreshing.machine
        let first = machine.newest
        for ticket in 10..<13 as Range<UInt64> { #expect(text(machine.wanted(ticket, refused: first)) == "wait") }
        #expect(text(machine.refreshed(BearerToken("two"), by: refresh)) == "[1, 10, 11, 12]")
        #expect(machine.current?.value == "two")
        #expect(text(machine.refreshed(BearerToken("three"), by: refresh)) == "nothing")
        #expect(text(machine.wanted(9, refused: first)) == "use two")
    }

    @Test func `only the refresh under way counts`() {
        for start in Start.allCases {
            var (machine, _) = start.machine
            #expect(text(machine.refreshed(BearerToken("two"), by: TokenRefresh())) == "nothing", "\(start)")
        }
    }

    @Test func `after a failed refresh the next one begins another`() {
        var (machine, refresh) = Start.refreshing.machine
        #expect(text(machine.refreshed(nil, by: refresh)) == "[1]" && machine.current == nil)
        #expect(text(machine.wanted(9, refused: nil)) == "refresh")
    }

    @Test func `only a waiting request can be cancelled, and only once`() {
        for start in Start.allCases {
            var (machine, _) = start.machine
            let results = [machine.cancelled(1), machine.cancelled(1)]
            #expect(results == [start.hasRefresh, false], "\(start)")
        }
    }

    @Test func `a reset forgets the token, and stops a refresh`() {
        for start in Start.allCases {
            var (machine, refresh) = start.machine
            let stopped = machine.reset()
            #expect(start.hasRefresh ? stopped === refresh : stopped == nil, "\(start)")
            #expect(machine.current == nil)
        }
    }

    @Test func `the end of a stopped refresh gives no token, and begins another one for those that wait`() {
        for isCancelled in [true, false] {
            var (machine, refresh) = Start.stopping.machine
            if isCancelled { _ = machine.cancelled(1) }
            #expect(text(machine.refreshed(BearerToken("old"), by: refresh)) == (isCancelled ? "nothing" : "refresh"))
            #expect(text(machine.wanted(9, refused: nil)) == (isCancelled ? "refresh" : "wait"))
        }
    }

    @Test func `a token that is older than a new one is forgotten, and that of a refresh under way doesn't count`() {
        for start in Start.allCases {
            var (machine, refresh) = start.machine
            _ = machine.reset()
            #expect(machine.current == nil && machine.newest == nil, "\(start)")
            let ending = text(machine.refreshed(BearerToken("old"), by: refresh))
            #expect(ending == (start.hasRefresh ? "refresh" : "nothing"))
            #expect(machine.current == nil, "\(start)")
        }
    }
}
