import TestSupport
import Testing

@testable import DeferredTesting

/// Tests every state with every event. Sleepers and watchers are identified by names.
@Suite(.ownThread, .timeLimit(.minutes(1)))
struct SleepersTests {
    private typealias Machine = Sleepers<String, String>

    private enum Start: CaseIterable {
        case empty, watched, asleep, asleepWatched

        var sleepers: [String] { self == .asleep || self == .asleepWatched ? ["b", "c", "a"] : [] }
        var isWatched: Bool { self == .watched || self == .asleepWatched }
        /// The number of sleepers that the watcher waits for.
        var needed: Int { sleepers.count + 2 }
        var next: ManualClock.Instant? { sleepers.isEmpty ? nil : at(2) }

        /// Makes a machine whose time is 1; a is due at 3, b and c at 2.
        func make() -> (machine: Machine, tickets: [String: SleepTicket]) {
            var (machine, tickets) = (Machine(), [String: SleepTicket]())
            _ = machine.advance(to: at(1))
            for (name, due) in [("a", 3), ("b", 2), ("c", 2)] where !sleepers.isEmpty {
                let ticket = machine.ticket(until: at(due))
                tickets[name] = ticket
                _ = machine.sleep(ticket, name)
            }
            if isWatched { _ = machine.watch(for: needed, "watcher") }
            return (machine, tickets)
        }
    }

    @Test func `time wakes those that are due, in order, once`() {
        for start in Start.allCases {
            var machine = start.make().machine
            #expect(machine.nextDeadline == start.next, "\(start)")
            #expect(machine.advance(to: at(0)) == [], "\(start)")
            #expect(machine.now == at(1), "it never goes back")
            #expect(machine.advance(to: at(1).advanced(by: .milliseconds(999))) == [], "\(start)")
            #expect(machine.advance(to: at(2)) == Array(start.sleepers.prefix(2)), "\(start)")
            #expect(machine.advance(to: at(2)) == [], "\(start)")
            #expect(machine.advance(to: at(10)) == Array(start.sleepers.dropFirst(2)), "\(start)")
            #expect(machine.now == at(10) && machine.count == 0 && machine.nextDeadline == nil, "\(start)")
        }
    }

    @Test func `one long step wakes all in order`() {
        for start in Start.allCases {
            var machine = start.make().machine
            #expect(machine.advance(to: at(101)) == start.sleepers, "\(start)")
            #expect(machine.now == at(101), "\(start)")
        }
    }

    @Test func `stepping from deadline to deadline ends where nobody sleeps`() {
        for start in Start.allCases {
            var machine = start.make().machine
            #expect(machine.advanceToNextDeadline() == Array(start.sleepers.prefix(2)), "\(start)")
            #expect(machine.now == (start.next ?? at(1)), "\(start)")
            #expect(machine.advanceToNextDeadline() == Array(start.sleepers.dropFirst(2)), "\(start)")
            #expect(machine.now == (start.sleepers.isEmpty ? at(1) : at(3)), "\(start)")
            #expect(machine.advanceToNextDeadline() == [], "\(start)")
        }
    }

    @Test func `a late sleeper is due, and does not count`() {
        for start in Start.allCases {
            for deadline in [at(0), at(1)] {
                var machine = start.make().machine
                let ticket = machine.ticket(until: deadline)
                guard case .due = machine.sleep(ticket, "late") else {
                    Issue.record("\(start) lets one sleep until \(deadline)")
                    continue
                }
                #expect(machine.count == start.sleepers.count, "\(start)")
                #expect(machine.cancel(ticket) == nil, "\(start)")
            }
        }
    }

    @Test func `a watcher is resumed once, by the sleeper that was missing`() {
        for start in Start.allCases {
            var machine = start.make().machine
            var told: [[String]] = []
            for name in ["d", "e", "f"] {
                let ticket = machine.ticket(until: at(4))
                if case .sleeps(let watchers) = machine.sleep(ticket, name) { told.append(watchers) }
            }
            #expect(told == [[], start.isWatched ? ["watcher"] : [], []], "\(start)")
            #expect(machine.count == start.sleepers.count + 3, "\(start)")
        }
    }

    @Test func `a watcher is resumed at once if enough sleep already, and is not kept`() {
        for start in Start.allCases {
            var machine = start.make().machine
            let isTold = [0, 1].map { machine.watch(for: start.sleepers.count + $0, $0 == 0 ? "now" : "soon") }
            #expect(isTold == [true, false], "\(start)")
            guard case .sleeps(let watchers) = machine.sleep(machine.ticket(until: at(4)), "d") else { continue }
            #expect(watchers == ["soon"], "\(start)")
        }
    }

    @Test func `a cancelled sleeper comes back once, and is not woken`() {
        for start in Start.allCases {
            var (machine, tickets) = start.make()
            for name in start.sleepers.reversed() {
                guard let ticket = tickets[name] else { continue }
                #expect(machine.cancel(ticket) == name, "\(start)")
                #expect(machine.cancel(ticket) == nil, "\(start)")
            }
            #expect(machine.count == 0, "\(start)")
            #expect(machine.advance(to: at(101)) == [], "\(start)")
        }
    }

    @Test func `cancelling one that was woken, or does not sleep yet, does nothing`() {
        for start in Start.allCases {
            var (machine, tickets) = start.make()
            let early = machine.ticket(until: at(2))
            #expect(machine.cancel(early) == nil, "\(start)")
            #expect(machine.count == start.sleepers.count, "\(start)")
            _ = machine.advance(to: at(2))
            for name in start.sleepers.prefix(2) {
                if let ticket = tickets[name] { #expect(machine.cancel(ticket) == nil, "\(start)") }
            }
            #expect(machine.count == max(0, start.sleepers.count - 2), "\(start)")
        }
    }
}

private func at(_ seconds: Int) -> ManualClock.Instant {
    ManualClock.Instant(offset: .seconds(seconds))
}
