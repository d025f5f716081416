import Foundation
import TestSupport
import Testing

@testable import DeferredNetworking

/// Invariants for any order of events, from the points of view of the sink and of the platform.
private struct Invariants {
    private var isCreationPending = false
    private var task: Int?
    private var isTaskCancelled = false
    private var hasHead = false
    private var isHeld = false
    private(set) var hasFinished = false
    private(set) var hasReleased = false

    /// Returns a violation, if there is one.
    mutating func violation(event: MachineEvent, newestTask: Int, actions: [TransferStateMachine.Action]) -> String? {
        if event == .created {
            isCreationPending = false
            task = newestTask
            isTaskCancelled = false
        } else if [.redirectedHeld, .redirectedAwayHeld].contains(event) {
            isHeld = true
        } else if [.succeeded, .succeededUnseen, .failed].contains(event) || event == .invalidated {
            task = nil
            isHeld = false
        }
        for action in actions {
            if let violation = violation(action) {
                return violation
            }
        }
        return nil
    }

    private mutating func violation(_ action: TransferStateMachine.Action) -> String? {
        switch action {
        case .answerRedirect(nil) where hasReleased && isHeld:
            isHeld = false
        case _ where hasReleased:
            return "action after the release"
        case .storeCookies:
            return "cookies, which are the transfer's"
        case .createTask:
            if hasFinished || isCreationPending || task != nil { return "a task too many" }
            isCreationPending = true
            hasHead = false
        case .resumeTask(let resumed):
            if resumed != task || hasFinished { return "wrong task resumed" }
        case .cancelTask(let cancelled):
            if cancelled != task || isTaskCancelled { return "wrong task cancelled, or twice" }
            isTaskCancelled = true
        case .answerRedirect(let next):
            if !isHeld { return "answered twice" }
            if next != nil, hasFinished { return "followed after the end" }
            isHeld = false
        case .askAboutRedirect where isHeld:
            if hasFinished || task == nil { return "asked for nobody" }
        case .askAboutRedirect, .askAboutChallenge:
            if hasFinished || task != nil { return "asked while a task runs" }
        case .deliverHead:
            if hasFinished { return "head after the end" }
            hasHead = true
        case .deliverBytes:
            if hasFinished || !hasHead { return "bytes without a head or after the end" }
        case .report(let progress):
            if hasFinished { return "progress after the end" }
            if progress.direction == .received, !hasHead { return "progress without a head" }
        case .finish:
            if hasFinished { return "finished twice" }
            hasFinished = true
        case .release:
            if !hasFinished || isCreationPending || task != nil { return "released too early" }
            hasReleased = true
        }
        return nil
    }
}

@Suite("Transfer state machine, random events", .ownThread, .timeLimit(.minutes(5)))
struct TransferStateMachineRandomTests {
    @Test(arguments: 0..<4)
    func `in random sequences of events a transfer ends once and cleanly`(part: Int) {
        let count = rounds(5_000)
        for seed in UInt64(part * count)..<UInt64((part + 1) * count) {
            if let violation = violation(seed: seed) {
                Issue.record("seed \(seed): \(violation)")
                return
            }
        }
    }

    private func violation(seed: UInt64) -> String? {
        var generator = SeededGenerator(seed: seed)
        var fixture = MachineFixture()
        var invariants = Invariants()
        var history: [MachineEvent] = []

        func violation(after event: MachineEvent) -> String? {
            guard fixture.isPossible(event) else { return nil }
            history.append(event)
            let actions = fixture.apply(event)
            return invariants.violation(event: event, newestTask: fixture.newestTask, actions: actions)
                .map { "\($0) after \(history)" }
        }

        // Final events are rarer than the others, so that sequences get further.
        let common = MachineEvent.allCases.filter { ![.cancel, .abort, .invalidated].contains($0) }
        for step in 0..<30 {
            let isEnd = step > 3 && generator.next() % 24 == 0
            let events = isEnd ? MachineEvent.allCases : common
            if let violation = violation(after: events[Int(generator.next() % UInt64(events.count))]) {
                return violation
            }
        }
        // After any events, a cancellation ends the transfer, and the platform's final event releases it.
        for event in [MachineEvent.cancel, .created, .failed] {
            if let violation = violation(after: event) {
                return violation
            }
        }
        return invariants.hasFinished && invariants.hasReleased ? nil : "not ended after \(history)"
    }
}
