import TestSupport
import Testing

@testable import DeferredHTTP

/// Tests every state with every event.
@Suite(.ownThread, .timeLimit(.minutes(1)))
struct AutocancelStateMachineTests {
    private typealias Machine = AutocancelStateMachine<String>

    private struct Start: CustomStringConvertible {
        let items: [String]
        let resetCount: Int

        static let all = [[], ["a"], ["a", "b"]].flatMap { items in (0...2).map { Start(items: items, resetCount: $0) }
        }

        var machine: Machine {
            var machine = Machine()
            for item in items { _ = machine.arrived(item) }
            for _ in 0..<resetCount { _ = machine.close() }
            return machine
        }

        var description: String { "\(items), \(resetCount) resets" }
    }

    @Test func `arriving requests are accepted, unless a reset is running`() {
        for start in Start.all {
            var machine = start.machine
            let ticket = machine.arrived("x")
            #expect((ticket != nil) == (start.resetCount == 0), "\(start)")
            #expect(machine.items == (ticket == nil ? [] : ["x"]) + start.items.reversed(), "\(start)")
        }
    }

    @Test func `what continues a request is accepted in any case`() {
        for start in Start.all {
            var machine = start.machine
            #expect(machine.followed("x") == start.items.count && machine.items.first == "x", "\(start)")
        }
    }

    @Test func `a reset has what is in flight to cancel, the newest first, and lets nothing in until all have ended`() {
        for start in Start.all {
            var machine = start.machine
            #expect(machine.close() == start.items.reversed(), "\(start)")
            for _ in 0...start.resetCount {
                #expect(!machine.isOpen && machine.arrived("x") == nil, "\(start)")
                machine.reopen()
            }
            #expect(machine.isOpen && machine.arrived("x") != nil, "\(start)")
        }
    }

    @Test func `the last to leave is known as such`() {
        for start in Start.all {
            var machine = start.machine
            for ticket in start.items.indices {
                #expect(machine.left(ticket) == (ticket == start.items.count - 1), "\(start)")
            }
            #expect(machine.items.isEmpty && machine.isOpen == (start.resetCount == 0), "\(start)")
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
        #expect(machine.items.isEmpty && machine.close().isEmpty)
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

    @Test func `no reset ends that has not begun`() async {
        await #expect(processExitsWith: .failure) {
            var machine = AutocancelStateMachine<String>()
            machine.reopen()
        }
    }
    #endif
}
