import TestSupport
import Testing

@testable import DeferredHTTP

/// Tests every state with every event.
@Suite(.ownThread, .timeLimit(.minutes(1)))
struct AutocancelStateMachineTests {
    private typealias Machine = AutocancelStateMachine<String>

    private enum Start: CaseIterable {
        case openIdle, open, draining, resettingNext

        /// A machine in this state, with "a" and "b" in flight if the state allows it.
        var machine: Machine {
            var machine = Machine()
            if self == .open || self == .draining {
                _ = machine.arrived("a")
                _ = machine.arrived("b")
            }
            if self == .draining || self == .resettingNext { _ = machine.reset() }
            return machine
        }
    }

    private func text(_ action: Machine.Action) -> String {
        switch action {
        case .nothing: "nothing"
        case .cancel(let items): "cancel \(items.sorted())"
        case .resetNext: "reset next"
        }
    }

    @Test func `arriving requests are accepted, unless a reset is running`() {
        for start in Start.allCases {
            var machine = start.machine
            #expect((machine.arrived("x") != nil) == [.openIdle, .open].contains(start), "\(start)")
        }
    }

    @Test func `a reset cancels requests in flight or resets the next loader, and overlapping ones merge`() {
        for start in Start.allCases {
            var machine = start.machine
            let expected = [Start.openIdle: "reset next", .open: "cancel [\"a\", \"b\"]"][start] ?? "nothing"
            #expect(text(machine.reset()) == expected, "\(start)")
            #expect(text(machine.reset()) == "nothing", "\(start)")
        }
    }

    @Test func `the last to leave lets a reset go on`() {
        for start in [Start.open, .draining] {
            var machine = start.machine
            #expect(text(machine.left(0)) == "nothing", "\(start)")
            #expect(text(machine.left(1)) == (start == .draining ? "reset next" : "nothing"), "\(start)")
        }
    }

    @Test func `later requests reuse the tickets of earlier ones, and still count as the newest`() {
        var machine = Machine()
        let tickets = ["a", "b", "c"].map { machine.followed($0) }
        _ = machine.left(tickets[0])
        _ = machine.left(tickets[1])
        #expect(machine.followed("d") == tickets[1] && machine.followed("e") == tickets[0])
        #expect(machine.followed("f") == 3 && machine.items == ["f", "e", "d", "c"])
        for ticket in 0...3 { _ = machine.left(ticket) }
        #expect(machine.items.isEmpty && text(machine.reset()) == "reset next")
    }

    #if os(macOS) || os(Linux)
    @Test func `nothing leaves twice`() async {
        await #expect(processExitsWith: .failure) {
            var machine = AutocancelStateMachine<String>()
            let ticket = machine.followed("a")
            _ = machine.left(ticket)
            _ = machine.left(ticket)
        }
    }
    #endif

    @Test func `when the next loader was reset, it is open again`() {
        var machine = Start.resettingNext.machine
        machine.nextWasReset()
        #expect(machine.state == .open && machine.arrived("x") != nil)
    }

    #if os(macOS) || os(Linux)
    @Test func `nextWasReset in another state is an error`() async {
        await #expect(processExitsWith: .failure) {
            var machine = AutocancelStateMachine<String>()
            machine.nextWasReset()
        }
    }
    #endif
}
