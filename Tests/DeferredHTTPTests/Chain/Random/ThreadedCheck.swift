import Foundation
import TestSupport

/// Performs the steps of a scenario on several threads, and checks what holds whatever comes first: each task and each
/// reset ends once, and nothing is left.
///
/// SAFETY: `lock` guards the number of the next request.
final class ThreadedCheck: @unchecked Sendable {
    private let scenario: Scenario
    private let run: ChainRun
    private let lock = NSLock()
    private var (started, resets) = (Set<Int>(), 0)
    private static let threads = 3
    private static let patience = Duration.seconds(20)

    init(_ scenario: Scenario) {
        self.scenario = scenario
        run = ChainRun(scenario)
    }

    /// Returns what is wrong; `nil` if nothing is.
    func failure() -> String? {
        race(Self.threads) { [self] thread in
            for (index, step) in scenario.steps.enumerated() where index % Self.threads == thread { perform(step) }
        }
        let isEnded = settles(within: Self.patience) {
            if hasEnded { return true }
            for action in run.record.endings { run.perform(action) }
            // A body that stays open keeps its place.
            for ask in scenario.asks.indices where scenario.asks[ask].isStream {
                run.perform(.endBody(ExchangeName(ask: ask, number: 0), .cancel, ask: ask))
            }
            advance()
            return false
        }
        guard isEnded else { return "not ended: \(run.seen)" }
        let seen = run.seen
        run.end()
        var wrong = seen.wrong
        wrong += seen.ends.filter { $0.value.count != 1 }.map { "task \($0.key) ended \($0.value)" }
        wrong += seen.resets.filter { !["", "[]"].contains($0.value[0]) || $0.value.count != 1 }.map { "\($0)" }
        let isGone = settles(within: Self.patience) {
            if run.isGone || !wrong.isEmpty { return true }
            // What a Swift task has sent meanwhile for a request that was completed from above.
            for action in run.record.endings { run.perform(action) }
            return false
        }
        if !isGone { wrong.append("\(run.record.lifetimes.count) captures, or a task, are kept") }
        return wrong.isEmpty ? nil : wrong.joined(separator: "; ")
    }

    private var hasEnded: Bool {
        let seen = run.seen
        let (started, resets) = lock.withLock { (self.started, self.resets) }
        return Set(seen.ends.keys) == started && seen.resets.count >= resets && !seen.resets.values.contains([])
            && seen.waiting.values.allSatisfy { $0 == 0 } && run.record.endings.isEmpty
    }

    private func perform(_ step: Scenario.Step) {
        switch step {
        case .load(let number):
            guard number < scenario.asks.count, lock.withLock({ started.insert(number).inserted }) else { return }
            run.perform(.load(number))
        case .deed(let deed):
            if case .reset = deed { lock.withLock { resets += 1 } }
            run.perform(.deed(deed))
        case .advance: advance()
        case .endBody(let number, let end):
            // Reading waits for the end of the body, which another thread may have cancelled.
            if end != .read { run.perform(.endBody(ExchangeName(ask: number, number: 0), end, ask: number)) }
        case .answer(let number): endOne(number)
        case .endRefresh, .endReset, .letGo: endOne(scenario.steps.count)
        }
    }

    private func endOne(_ number: Int) {
        let actions = run.record.endings
        if !actions.isEmpty { run.perform(actions[number % actions.count]) }
    }

    private func advance() {
        let clock = run.record.clock
        guard let first = clock.deadlines.first else { return }
        clock.advance(max(first - clock.now.microseconds, 0))
    }
}
