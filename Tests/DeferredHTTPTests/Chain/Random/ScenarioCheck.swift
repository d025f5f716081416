import Foundation
import TestSupport

/// Compares what the library shows of a scenario with what the model says, step for step.
struct ScenarioCheck {
    /// The most time that the library has for what it does on other threads.
    var patience: Duration = .seconds(10)

    /// Returns what is wrong; `nil` if nothing is.
    func failure(of scenario: Scenario) -> String? {
        let (model, run) = (ChainModel(scenario), ChainRun(scenario))
        var names: [String] = []
        var failure: String?
        for step in scenario.steps where failure == nil {
            failure = tick(model, run, &names)
            guard failure == nil, let action = model.action(of: step) else { continue }
            failure = perform(action, model, run, &names)
        }
        if failure == nil { failure = finish(model, run, &names) }
        run.end()
        if failure == nil, !settles(within: patience, { run.isGone }) {
            failure = "\(run.record.lifetimes.count) captures, or a task, are kept at the end"
        }
        // The closures of the model refer to what they belong to.
        model.clear()
        return failure.map { "\($0)\n  after: \(names.joined(separator: "; "))" }
    }

    private func finish(_ model: ChainModel, _ run: ChainRun, _ names: inout [String]) -> String? {
        for number in 0..<400 {
            if let failure = tick(model, run, &names) { return failure }
            guard let action = model.lastAction(number) else { break }
            if let failure = perform(action, model, run, &names) { return failure }
        }
        return model.unended.map { "the model does not end: \($0)" }
    }

    /// Time passes between two steps, so that timers that begin in different steps fire at different times.
    private func tick(_ model: ChainModel, _ run: ChainRun, _ names: inout [String]) -> String? {
        let next = model.nextTimers.first.map { $0.deadline - model.now }
        if next == 1 { return perform(.advance(microseconds: 1), model, run, &names) }
        model.perform(.advance(microseconds: 1))
        run.perform(.advance(microseconds: 1))
        return nil
    }

    private func perform(_ action: Action, _ model: ChainModel, _ run: ChainRun, _ names: inout [String]) -> String? {
        names.append("\(action)".replacing("DeferredHTTPTests.Scenario.", with: ""))
        let sentCount = model.seen.sent.count
        model.perform(action)
        run.perform(action)
        model.seen.cancelled = model.cancelledHandles
        model.seen.forgetOrder(of: model.cut, hops: model.scenario.hops)
        model.seen.sent[sentCount...].sort()
        let deadlines = model.nextTimers.map(\.deadline)
        let seen = {
            var seen = run.seen
            seen.cancelled.subtract(model.touched)
            seen.forgetOrder(of: model.cut, hops: model.scenario.hops)
            if seen.sent.count >= sentCount {
                seen.sent = model.seen.sent[..<sentCount] + seen.sent[sentCount...].sorted()
            }
            return seen
        }
        // Timers and Swift tasks run on other threads.
        let isSettled = settles(within: model.needsTime ? patience : .zero) {
            run.record.clock.deadlines == deadlines && seen() == model.seen
        }
        if isSettled { return nil }
        let sleeping = run.record.clock.deadlines
        let differences = model.seen.differences(to: seen())
        return (differences + (sleeping == deadlines ? [] : ["timers: expected \(deadlines)\n    found \(sleeping)"]))
            .joined(separator: "\n  ")
    }
}
