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
            let number = machine.arrived("x")
            #expect((number != nil) == (start.resetCount == 0), "\(start)")
            #expect(machine.items == (number == nil ? [] : ["x"]) + start.items.reversed(), "\(start)")
        }
    }

    @Test func `what continues a request is accepted in any case`() {
        for start in Start.all {
            var machine = start.machine
            _ = machine.followed("x")
            #expect(machine.items == ["x"] + start.items.reversed(), "\(start)")
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
            for (index, item) in start.items.enumerated() {
                #expect(machine.left(index + 1) == (item, index == start.items.count - 1), "\(start)")
            }
            #expect(machine.items.isEmpty && machine.isOpen == (start.resetCount == 0), "\(start)")
        }
    }

    @Test func `later requests are the newest ones, whichever have left`() {
        var machine = Machine()
        let numbers = ["a", "b", "c"].map { machine.followed($0) }
        for number in numbers.prefix(2) { _ = machine.left(number) }
        let later = ["d", "e", "f"].map { machine.followed($0) }
        #expect(machine.items == ["f", "e", "d", "c"])
        for number in numbers.suffix(1) + later { _ = machine.left(number) }
        #expect(machine.items.isEmpty && machine.close().isEmpty)
    }

    #if os(macOS) || os(Linux)
    @Test func `nothing leaves twice`() async {
        await #expect(processExitsWith: .failure) {
            var machine = AutocancelStateMachine<String>()
            let number = machine.followed("a")
            _ = machine.left(number)
            _ = machine.left(number)
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
