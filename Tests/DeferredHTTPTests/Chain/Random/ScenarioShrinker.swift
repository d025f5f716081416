/// Makes failing scenarios smaller, as long as they fail.
struct ScenarioShrinker {
    /// Returns what is wrong with a scenario; `nil` if nothing is.
    let failure: (Scenario) -> String?

    func shrink(_ scenario: Scenario, _ failure: String) -> (Scenario, String) {
        var best = (scenario, failure)
        var isSmaller = true
        while isSmaller {
            isSmaller = false
            for candidates in [withoutSteps, withoutLinks, withoutTriggers, simpler] {
                // Each success makes the next candidates of the same kind.
                var index = 0
                var all = candidates(best.0)
                while index < all.count {
                    if all[index].isClear, let failure = self.failure(all[index]) {
                        best = (all[index], failure)
                        isSmaller = true
                        all = candidates(best.0)
                    } else {
                        index += 1
                    }
                }
            }
        }
        return best
    }

    private func withoutSteps(_ scenario: Scenario) -> [Scenario] {
        var (all, size) = ([Scenario](), max(scenario.steps.count / 2, 1))
        while size >= 1 {
            for start in stride(from: 0, to: scenario.steps.count, by: size) {
                var smaller = scenario
                smaller.steps.removeSubrange(start..<min(start + size, scenario.steps.count))
                all.append(smaller)
            }
            size /= 2
        }
        return all
    }

    private func withoutLinks(_ scenario: Scenario) -> [Scenario] {
        scenario.chains.indices.flatMap { chain in
            scenario.chains[chain].links.indices.map { link in
                var smaller = scenario
                smaller.chains[chain].links.remove(at: link)
                return smaller
            }
        }
    }

    private func withoutTriggers(_ scenario: Scenario) -> [Scenario] {
        scenario.triggers.indices.map { trigger in
            var smaller = scenario
            smaller.triggers.remove(at: trigger)
            return smaller
        }
    }

    /// Scenarios of which one detail is the usual one.
    private func simpler(_ scenario: Scenario) -> [Scenario] {
        var all: [Scenario] = []
        func add(_ change: (inout Scenario) -> Void) {
            var smaller = scenario
            change(&smaller)
            if smaller.description.count < scenario.description.count { all.append(smaller) }
        }
        for index in scenario.chains.indices {
            add { $0.chains[index].joining = .generic }
            add { $0.chains[index].resetsLater = false }
            add { $0.chains[index].lacksTerminal = false }
        }
        for index in scenario.asks.indices {
            let used = scenario.steps.contains(.load(index))
            let plain = Scenario.Ask()
            add { if !used { $0.asks[index] = plain } }
            add { $0.asks[index].answers.removeAll() }
            for number in scenario.asks[index].answers.indices {
                add { $0.asks[index].answers.remove(at: number) }
                add { $0.asks[index].answers[number].isHeld = false }
                add { $0.asks[index].answers[number].ignoresCancel = false }
            }
            add { $0.asks[index].chain = plain.chain }
            add { $0.asks[index].path = plain.path }
            add { $0.asks[index].isPost = plain.isPost }
            add { $0.asks[index].host = plain.host }
            add { $0.asks[index].isStream = plain.isStream }
            add { $0.asks[index].isThrottled = plain.isThrottled }
            add { $0.asks[index].isDeduplicated = plain.isDeduplicated }
            add { $0.asks[index].isAuthenticated = plain.isAuthenticated }
            add { $0.asks[index].isRetried = plain.isRetried }
            add { $0.asks[index].hasDeadline = plain.hasDeadline }
            add { $0.asks[index].isCancelledBefore = plain.isCancelledBefore }
            add { $0.asks[index].form = plain.form }
        }
        add { $0.refreshes.removeAll() }
        for index in scenario.values.indices {
            add { $0.values[index] = .custom(.same) }
            add { $0.values[index] = .retry(attempts: 2, pauses: false) }
        }
        return all
    }
}
