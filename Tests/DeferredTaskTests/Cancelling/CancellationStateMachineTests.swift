import TestSupport
import Testing

@testable import DeferredTask

/// Every state × every event.
@Suite(.ownThread, .timeLimit(.minutes(1)))
struct CancellationStateMachineTests {
    private struct Work: CancellationTarget, Equatable {
        var isFinished = false
    }

    private typealias Machine = CancellationStateMachine<Work>

    private enum Start: CaseIterable {
        /// The work runs.
        case active
        /// The work has ended, but the machine was not told.
        case activeFinished
        case cancelled
        case cancelledFinished
        case ended
        case endedCancelled

        var machine: Machine {
            let isFinished = self == .activeFinished
            var machine = Machine(Work(isFinished: isFinished))
            switch self {
            case .active, .activeFinished: break
            case .cancelled, .cancelledFinished: _ = machine.cancel()
            case .ended: _ = machine.end()
            case .endedCancelled:
                _ = machine.cancel()
                _ = machine.end()
            }
            return machine
        }
    }

    @Test func `only an active machine has something to cancel`() {
        for start in Start.allCases {
            var machine = start.machine
            #expect((machine.cancel() != nil) == (start == .active), "\(start)")
            #expect(machine.cancel() == nil, "\(start)")
        }
    }

    @Test func `cancelled is what was cancelled before its end`() {
        for start in Start.allCases {
            let expected = [.cancelled, .cancelledFinished, .endedCancelled].contains(start)
            var machine = start.machine
            #expect(machine.isCancelled == expected, "\(start)")
            _ = machine.end()
            #expect(machine.isCancelled == expected, "\(start)")
            _ = machine.cancel()
            #expect(machine.isCancelled == expected, "\(start)")
        }
    }

    @Test func `the end gives back what was held, once`() {
        for start in Start.allCases {
            var machine = start.machine
            let isHeld = ![.ended, .endedCancelled].contains(start)
            #expect((machine.target != nil) == isHeld, "\(start)")
            switch (start, machine.end()) {
            case (.active, .active), (.activeFinished, .active): break
            case (.cancelled, .cancelled), (.cancelledFinished, .cancelled): break
            case (.ended, .ended(false)), (.endedCancelled, .ended(true)): break
            case (_, let state): Issue.record("\(start) ended as \(state)")
            }
            #expect(machine.target == nil, "\(start)")
        }
    }
}
