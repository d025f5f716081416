#if os(Linux)
import TestSupport
import Testing

@testable import DeferredNetworking

@Suite("Look-ups: machine", .ownThread, .timeLimit(.minutes(1)))
struct LookUpStateMachineTests {
    private typealias Machine = LookUpStateMachine

    private static let start = ContinuousClock.now
    private static let found = Machine.Outcome.success(["192.0.2.1"])
    private static let unknown = Machine.Outcome.failure(LookUpFailure(reason: "unknown", isTemporary: false))
    private static let late = Machine.Outcome.failure(LookUpFailure(reason: "late", isTemporary: true))

    /// An expectation can't call what changes a value.
    private final class Subject {
        var machine: Machine
        var now = start

        init(limit: Int = 1) {
            machine = Machine(limit: limit)
        }

        func asked(_ name: String, by waiter: Int) -> Machine.Answer { machine.asked(for: name, by: waiter, at: now) }
        func ended(_ name: String, _ outcome: Machine.Outcome) -> Machine.End {
            machine.ended(name, with: outcome, at: now)
        }
    }

    /// A name's state, made by the events that lead there.
    private enum State: CaseIterable {
        case none, queued, inFlight, found, unknown, late

        var subject: Subject {
            let subject = Subject()
            switch self {
            case .none: break
            case .queued:
                _ = subject.asked("other", by: 8)
                _ = subject.asked("name", by: 9)
            case .inFlight: _ = subject.asked("name", by: 9)
            case .found, .unknown, .late:
                _ = subject.asked("name", by: 9)
                _ = subject.ended("name", outcome)
            }
            return subject
        }

        private var outcome: Machine.Outcome {
            switch self {
            case .unknown: LookUpStateMachineTests.unknown
            case .late: LookUpStateMachineTests.late
            default: LookUpStateMachineTests.found
            }
        }
    }

    @Test(arguments: State.allCases)
    private func `a name is looked up once, for all who ask meanwhile and for a while after`(state: State) {
        let subject = state.subject
        let answer = subject.asked("name", by: 1)
        switch state {
        case .none, .unknown: #expect(answer == .begin && subject.machine.inFlightCount == 1)
        case .queued, .inFlight: #expect(answer == .wait && subject.machine.inFlightCount == 1)
        case .found: #expect(answer == .known(Self.found) && subject.machine.inFlightCount == 0)
        case .late: #expect(answer == .known(Self.late) && subject.machine.inFlightCount == 0)
        }
    }

    @Test(arguments: State.allCases)
    private func `who withdraws is not told, and a name for nobody is not looked up`(state: State) {
        let subject = state.subject
        subject.machine.withdrew(9, from: "name")
        switch state {
        case .queued:
            #expect(subject.ended("other", Self.found) == .init(waiters: [8], next: nil))
            #expect(subject.asked("name", by: 1) == .begin)
        case .inFlight:
            #expect(subject.asked("name", by: 1) == .wait)
            #expect(subject.ended("name", Self.found) == .init(waiters: [1], next: nil))
        case .found: #expect(subject.asked("name", by: 1) == .known(Self.found))
        case .late: #expect(subject.asked("name", by: 1) == .known(Self.late))
        case .none, .unknown: #expect(subject.asked("name", by: 1) == .begin)
        }
    }

    @Test(arguments: State.allCases)
    private func `what is known is forgotten`(state: State) {
        let subject = state.subject
        subject.now += Machine.failureLifetime
        let isKnown = subject.asked("name", by: 1) == .known(Self.found)
        #expect(isKnown == (state == .found))
        subject.now += Machine.lifetime - Machine.failureLifetime
        let second = subject.asked("name", by: 2)
        #expect(second == (state == .found ? .begin : .wait))
    }

    @Test func `no more are in flight than may be, and the others follow in order`() {
        let subject = Subject(limit: 2)
        #expect(["a", "b", "c", "d"].enumerated().map { subject.asked($1, by: $0) } == [.begin, .begin, .wait, .wait])
        #expect(subject.asked("d", by: 4) == .wait)
        #expect(subject.ended("b", Self.found) == .init(waiters: [1], next: "c"))
        #expect(subject.machine.inFlightCount == 2)
        #expect(subject.ended("a", Self.late) == .init(waiters: [0], next: "d"))
        #expect(subject.ended("d", Self.found) == .init(waiters: [3, 4], next: nil))
        #expect(subject.ended("c", Self.unknown) == .init(waiters: [2], next: nil))
        #expect(subject.machine.inFlightCount == 0)
    }

    @Test func `names that were withdrawn take no room`() {
        let subject = Subject()
        _ = subject.asked("a", by: 0)
        for round in 1...10_000 {
            _ = subject.asked("\(round)", by: round)
            subject.machine.withdrew(round, from: "\(round)")
        }
        #expect(subject.machine.queueCount <= 66)
        #expect(subject.ended("a", Self.found) == .init(waiters: [0], next: nil))
    }
}
#endif
