import TestSupport
import Testing

@testable import DeferredTask

/// Tests every state with every event.
@Suite(.ownThread, .timeLimit(.minutes(1)))
struct CancellationStateMachineTests {
    private enum Start: CaseIterable {
        case active
        case cancelled
        case ended
        case endedCancelled

        var machine: CancellationStateMachine {
            var machine = CancellationStateMachine()
            switch self {
            case .active: break
            case .cancelled: _ = machine.cancel()
            case .ended: machine.end()
            case .endedCancelled:
                _ = machine.cancel()
                machine.end()
            }
            return machine
        }
    }

    @Test func `only an active machine has something to cancel`() {
        for start in Start.allCases {
            var machine = start.machine
            let (first, second) = (machine.cancel(), machine.cancel())
            #expect(first == (start == .active), "\(start)")
            #expect(!second, "\(start)")
        }
    }

    @Test func `only a cancellation before the end counts`() {
        for start in Start.allCases {
            let expected = [.cancelled, .endedCancelled].contains(start)
            var machine = start.machine
            #expect(machine.isCancelled == expected, "\(start)")
            machine.end()
            #expect(machine.isCancelled == expected, "\(start)")
            _ = machine.cancel()
            #expect(machine.isCancelled == expected, "\(start)")
        }
    }

    @Test func `an ended machine doesn't change`() {
        for start in Start.allCases {
            var machine = start.machine
            #expect(machine.isEnded == [.ended, .endedCancelled].contains(start), "\(start)")
            machine.end()
            let state = machine.state
            #expect(state == .ended(wasCancelled: [.cancelled, .endedCancelled].contains(start)), "\(start)")
            _ = machine.cancel()
            machine.end()
            #expect(machine.state == state, "\(start)")
        }
    }
}
