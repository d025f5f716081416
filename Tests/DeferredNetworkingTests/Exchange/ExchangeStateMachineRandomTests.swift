import Foundation
import TestSupport
import Testing

@testable import DeferredNetworking

/// Invariants for any order of events, from the points of view of the caller, the receiver and the platform.
private struct Invariants {
    private var tasks: Set<Int> = []
    private var cancelled: Set<Int> = []
    private var isAttempting = false
    private var hasHead = false
    private var isHeld = false
    private(set) var attempts = 0
    private(set) var hasFinished = false
    private(set) var hasLeft = false
    private(set) var hasReleased = false

    /// Returns a violation, if there is one.
    mutating func violation(
        event: MachineEvent,
        task: Int?,
        reaction: ExchangeStateMachine.Reaction
    ) -> String? {
        if [.redirectedHeld, .redirectedAwayHeld].contains(event) {
            isHeld = true
        } else if let task {
            tasks.remove(task)
            isHeld = false
        }
        for action in reaction.actions {
            if let violation = violation(action) { return violation }
        }
        return reaction.step.flatMap { violation($0, event) }
    }

    private mutating func violation(_ action: ExchangeStateMachine.Action) -> String? {
        switch action {
        case .answerRedirect(nil) where hasReleased && isHeld:
            isHeld = false
        case _ where hasReleased:
            return "action after the release"
        case .reportChallenge:
            break
        case .storeCookies:
            return "cookies, which are the storage's"
        case .prepare(_, let isNew):
            if hasLeft || isAttempting { return "an attempt too many" }
            if isNew { attempts += 1 }
            (isAttempting, hasHead) = (true, false)
        case .startTask(_, let task):
            if !isAttempting || tasks.contains(task) { return "a task too many" }
            tasks.insert(task)
            hasHead = false
        case .cancelTask(let task):
            if !tasks.contains(task) || !cancelled.insert(task).inserted { return "wrong task cancelled, or twice" }
        case .answerRedirect(let next):
            if !isHeld { return "answered twice" }
            if next != nil, !isAttempting { return "followed after the end" }
            isHeld = false
            if next != nil { hasHead = false }
        case .askAboutRedirect, .askAboutChallenge:
            if !isAttempting { return "asked after the end" }
        case .deliverInterim:
            if !isAttempting || hasHead { return "interim head behind the head or after the end" }
        case .deliverHead:
            if !isAttempting { return "head after the end" }
            hasHead = true
        case .deliverBytes, .deliverEnd:
            if !isAttempting || !hasHead { return "bytes without a head or after the end" }
        case .reportSent:
            if !isAttempting { return "progress after the end" }
        case .endAttempt:
            if !isAttempting { return "ended twice" }
            isAttempting = false
        case .release:
            if isAttempting || !tasks.isEmpty { return "released too early" }
            hasReleased = true
        }
        return nil
    }

    private mutating func violation(_ step: ExchangeStateMachine.Step, _ event: MachineEvent) -> String? {
        switch step {
        // A turn that comes after the end is given back.
        case .leave where hasLeft && event == .admitted: return nil
        case _ where hasLeft: return "step after the end"
        case .leave: return "left before the end"
        case .deliver, .finish:
            if hasFinished { return "finished twice" }
            hasFinished = true
            if case .finish = step { hasLeft = true }
        case .finishStream:
            if !hasFinished { return "a stream that nobody got" }
            hasLeft = true
        case .pause, .ask:
            if isAttempting { return "paused in an attempt" }
        case .arrive, .comeBack: break
        }
        return nil
    }
}

@Suite("Exchange state machine, random events", .ownThread, .timeLimit(.minutes(5)))
struct ExchangeStateMachineRandomTests {
    @Test(arguments: 0..<4)
    func `in random sequences of events an exchange ends once and cleanly`(part: Int) {
        let count = rounds(8_000)
        for seed in UInt64(part * count)..<UInt64((part + 1) * count) {
            if let violation = violation(seed: seed) {
                Issue.record("seed \(seed): \(violation)")
                return
            }
        }
    }

    private func violation(seed: UInt64) -> String? {
        var generator = SeededGenerator(seed: seed)
        var fixture = MachineFixture(yieldsPlace: seed % 2 == 0)
        var invariants = Invariants()
        var history: [MachineEvent] = []
        var live: Set<Int> = []

        func violation(after event: MachineEvent) -> String? {
            guard fixture.isPossible(event) else { return nil }
            let isEnd = MachineEvent.ends.contains(event)
            // A task ends once.
            if isEnd, live.remove(fixture.task) == nil { return nil }
            // The receiver delivers while it has a head.
            if event == .delivered, fixture.machine.state.summary != "receiving" { return nil }
            history.append(event)
            let before = fixture.task
            let reaction = fixture.apply(event)
            for case .startTask(_, let task) in reaction.actions { live.insert(task) }
            return invariants.violation(event: event, task: isEnd ? before : nil, reaction: reaction)
                .map { "\($0) after \(history)" }
        }

        // Final events are rarer than the others, so that sequences get further.
        let common = MachineEvent.allCases.filter { ![.cancel, .abort, .invalidated].contains($0) }
        for event in [MachineEvent.begin, .admitted, .prepared] {
            if let violation = violation(after: event) { return violation }
        }
        for step in 0..<40 {
            let isEnd = step > 3 && generator.next() % 24 == 0
            let events = isEnd ? MachineEvent.allCases : common
            if let violation = violation(after: events[Int(generator.next() % UInt64(events.count))]) {
                return violation
            }
        }
        // After any events, a cancellation ends the exchange, at the latest with the outcome that is just being made, and the
        // platform's final events release it.
        for event in [MachineEvent.cancel, .streamed, .lost] {
            if let violation = violation(after: event) { return violation }
        }
        for task in live.sorted() {
            fixture.machine.completed(task: task, head: nil, error: nil)
            let reaction = fixture.machine.takeReaction()
            if let violation = invariants.violation(event: .failed, task: task, reaction: reaction) {
                return "\(violation) at the end of \(task) after \(history)"
            }
        }
        guard invariants.attempts <= 7 else { return "\(invariants.attempts) attempts after \(history)" }
        return invariants.hasFinished && invariants.hasLeft && invariants.hasReleased
            ? nil : "not ended after \(history)"
    }
}
