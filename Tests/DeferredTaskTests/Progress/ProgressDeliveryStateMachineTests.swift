import TestSupport
import Testing

@testable import DeferredTask

/// Tests every state with every event.
@Suite(.ownThread, .timeLimit(.minutes(1)))
struct ProgressDeliveryStateMachineTests {
    private typealias Machine = ProgressDeliveryStateMachine
    private typealias Outcome = (state: Machine.State, action: Machine.Action)

    private static let table: [(Machine.State, changed: Outcome, begin: Outcome, end: Outcome, stop: Machine.State)] = [
        (.idle, (.submitted, .submit), (.idle, .nothing), (.ended, .deliverLast), .ended),
        (.submitted, (.submitted, .nothing), (.running, .deliver), (.ended, .deliverLast), .ended),
        (.running, (.outrun, .nothing), (.running, .nothing), (.ending, .nothing), .ended),
        (.outrun, (.outrun, .nothing), (.outrun, .nothing), (.ending, .nothing), .ended),
        (.ending, (.ending, .nothing), (.ending, .nothing), (.ending, .nothing), .ending),
        (.ended, (.ended, .nothing), (.ended, .nothing), (.ended, .nothing), .ended),
    ]

    @Test func `every state and event`() {
        #expect(Self.table.map(\.0) == Machine.State.allCases)
        for row in Self.table {
            #expect(after(row.0) { $0.changed() } == row.changed, "\(row.0), changed")
            #expect(after(row.0) { $0.begin() } == row.begin, "\(row.0), begin")
            #expect(after(row.0) { $0.end() } == row.end, "\(row.0), end")
            var machine = Machine(row.0)
            machine.stop()
            #expect(machine.state == row.stop, "\(row.0), stop")
        }
    }

    @Test func `a handler that returns`() {
        #expect(after(.running) { $0.returned() } == (.idle, .nothing))
        #expect(after(.outrun) { $0.returned() } == (.submitted, .submit))
        #expect(after(.ending) { $0.returned() } == (.ended, .deliverLast))
        #expect(after(.ended) { $0.returned() } == (.ended, .nothing))
    }

    #if os(macOS) || os(Linux)
    @Test func `a handler that doesn't run cannot return`() async {
        await #expect(processExitsWith: .failure) {
            var machine = ProgressDeliveryStateMachine(.idle)
            _ = machine.returned()
        }
        await #expect(processExitsWith: .failure) {
            var machine = ProgressDeliveryStateMachine(.submitted)
            _ = machine.returned()
        }
    }
    #endif

    private func after(_ state: Machine.State, _ event: (inout Machine) -> Machine.Action) -> Outcome {
        var machine = Machine(state)
        let action = event(&machine)
        return (machine.state, action)
    }
}
