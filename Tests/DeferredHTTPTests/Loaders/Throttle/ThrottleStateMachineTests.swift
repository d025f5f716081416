import TestSupport
import Testing

@testable import DeferredHTTP

@Suite(.ownThread, .timeLimit(.minutes(1)))
struct ThrottleStateMachineTests {
    private enum Start: CaseIterable {
        case idle, partlyBusy, full, queued

        /// A machine in this state, with a limit of two.
        var machine: ThrottleStateMachine {
            var machine = ThrottleStateMachine(maximum: 2)
            for ticket in 0..<[.idle: 0, .partlyBusy: 1, .full: 2, .queued: 4][self, default: 0] as Range<UInt64> {
                _ = machine.arrived(ticket + 1, host: "host")
            }
            return machine
        }
    }

    @Test func `arriving requests go on while there is room`() {
        for start in Start.allCases {
            var machine = start.machine
            #expect(machine.arrived(9, host: "host") == [.idle, .partlyBusy].contains(start), "\(start)")
        }
    }

    @Test func `only a waiting request can be cancelled, and only once`() {
        for start in Start.allCases {
            var machine = start.machine
            let results = [1, 3, 3].map { machine.cancelled($0) }
            #expect(results == [false, start == .queued, false], "\(start)")
        }
    }

    @Test func `an end makes room for the one that came first`() {
        for start in Start.allCases where start != .idle {
            var machine = start.machine
            #expect(machine.next() == nil)
            machine.ended()
            #expect(machine.next() == (start == .queued ? 3 : nil), "\(start)")
            #expect(machine.next() == nil)
        }
    }

    @Test func `a raised limit makes room, a lowered one stops nothing`() {
        for start in Start.allCases {
            var machine = start.machine
            let running = machine.runningCount
            machine.setMaximum(1)
            #expect(machine.runningCount == running && machine.next() == nil, "\(start)")
            machine.setMaximum(3)
            #expect((machine.next() != nil) == (start == .queued) && machine.next() == nil, "\(start)")
            machine.setMaximum(0)
            #expect(machine.maximum == 1)
        }
    }

    @Test func `no more run than allowed, and all get their turn`() {
        for seed in 0..<200 {
            var random = SeededGenerator(seed: UInt64(seed))
            var machine = ThrottleStateMachine(maximum: 3)
            var (running, waiting): (Set<UInt64>, Set<UInt64>) = ([], [])
            for ticket in 0..<200 as Range<UInt64> {
                switch Int.random(in: 0..<4, using: &random) {
                case 0, 1:
                    let goesOn = machine.arrived(ticket, host: "h\(Int.random(in: 0..<3, using: &random))")
                    if goesOn { running.insert(ticket) } else { waiting.insert(ticket) }
                case 2:
                    if running.popFirst() != nil { machine.ended() }
                default:
                    guard let ticket = waiting.popFirst() else { continue }
                    let hasWaited = machine.cancelled(ticket)
                    #expect(hasWaited)
                }
                while let ticket = machine.next() {
                    #expect(waiting.remove(ticket) != nil)
                    running.insert(ticket)
                }
                #expect(running.count == machine.runningCount && running.count <= 3)
                #expect(waiting.count == machine.waitingCount && (waiting.isEmpty || running.count == 3))
            }
        }
    }
}
