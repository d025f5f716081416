import TestSupport
import Testing

@testable import DeferredHTTP

/// Tests every state with every event.
@Suite(.ownThread, .timeLimit(.minutes(1)))
struct CircuitStateMachineTests {
    private enum Start: CaseIterable {
        case closed, failedOnce, open, halfOpen

        /// A machine in this state at 0 seconds, and the period of a request under way.
        var machine: (CircuitStateMachine, period: Int) {
            var machine = CircuitStateMachine(limit: 2, time: .seconds(10), pause: .seconds(30))
            var period = machine.arrived(at: .zero) ?? -1
            if self != .closed { machine.ended(period, isSuccess: false, at: .zero) }
            if self == .open || self == .halfOpen { machine.ended(period, isSuccess: false, at: .zero) }
            if self == .halfOpen { period = machine.arrived(at: .seconds(30)) ?? -1 }
            return (machine, period)
        }
    }

    @Test func `a request goes on while it is closed, or as the trial`() {
        for start in Start.allCases {
            for seconds in [0, 29, 30] {
                var machine = start.machine.0
                let goesOn = machine.arrived(at: .seconds(seconds)) != nil
                let expected =
                    switch start {
                    case .closed, .failedOnce: true
                    case .open: seconds == 30
                    case .halfOpen: false
                    }
                #expect(goesOn == expected, "\(start) \(seconds)")
            }
        }
    }

    @Test func `a result counts in its own period`() {
        for start in Start.allCases {
            for isSuccess in [true, false, nil] {
                var (machine, period) = start.machine
                machine.ended(period, isSuccess: isSuccess, at: .seconds(1))
                let isOpen =
                    switch start {
                    case .closed: false
                    case .failedOnce: isSuccess == false
                    // The request under way is one of before.
                    case .open: true
                    case .halfOpen: isSuccess != true
                    }
                #expect(machine.isOpen == isOpen, "\(start) \(isSuccess as Any)")
                machine.ended(period + 7, isSuccess: true, at: .seconds(1))
                #expect(machine.isOpen == isOpen, "\(start) \(isSuccess as Any)")
            }
        }
    }

    @Test func `closing lets requests go on, and forgets failures`() {
        for start in Start.allCases {
            var (machine, period) = start.machine
            machine.close()
            machine.ended(period, isSuccess: false, at: .zero)
            let new = machine.arrived(at: .zero) ?? -1
            machine.ended(new, isSuccess: false, at: .zero)
            #expect(!machine.isOpen && new > period, "\(start)")
        }
    }
}
