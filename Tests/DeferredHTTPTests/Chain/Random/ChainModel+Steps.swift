extension ChainModel {
    /// Returns what a step does now; `nil` for nothing.
    func action(of step: Scenario.Step) -> Action? {
        switch step {
        case .load(let number): return number < scenario.asks.count && !wasLoaded.contains(number) ? .load(number) : nil
        case .deed(let deed): return .deed(deed)
        case .answer(let number):
            let names = held.keys.sorted()
            if names.isEmpty { return nil }
            let name = names[number % names.count]
            return .answer(name, scenario.answer(name).outcome)
        case .endReset:
            return terminalResets.keys.sorted().first { !terminalResets[$0]!.isEmpty }.map { .endReset(terminal: $0) }
        case .endRefresh(let succeeds): return pendingRefreshes.keys.min().map { .endRefresh($0, succeeds: succeeds) }
        case .letGo: return keptByHold.keys.sorted().first { !keptByHold[$0]!.isEmpty }.map { .letGo(value: $0) }
        case .advance:
            let timers = nextTimers
            guard let first = timers.first, timers.count == 1 || timers[1].deadline > first.deadline else { return nil }
            return .advance(microseconds: first.deadline - now)
        case .endBody(let number, let end):
            let names = openBodies
            if names.isEmpty { return nil }
            let name = names[number % names.count]
            // An earlier attempt that goes on, although it was cancelled, keeps what belongs to the whole request.
            if end == .drop, held.keys.contains(where: { $0.ask == name.ask }) { return nil }
            return .endBody(name, end, ask: name.ask)
        }
    }

    /// The bodies that callers have.
    private var openBodies: [ExchangeName] {
        bodies.filter { name, body in body.isOpen && results[name.ask]?.body === body }.keys.sorted()
    }

    /// Returns something that brings the scenario to its end; `nil` if there is nothing left to do.
    func lastAction(_ number: Int) -> Action? {
        let steps: [Scenario.Step] = [.answer(number), .endRefresh(succeeds: true), .endReset, .letGo]
        if let action = steps.lazy.compactMap({ self.action(of: $0) }).first {
            // Whatever the scenario says, it ends.
            if number > 100, case .answer(let name, _) = action { return .answer(name, .status(204)) }
            return action
        }
        if let action = action(of: .endBody(0, Scenario.BodyEnd.allCases[number % 3])) ?? action(of: .advance) {
            return action
        }
        // Only timers that fire at once are left, whose order can't be said.
        if nextTimers.isEmpty { return nil }
        return tasks.filter { $0.value.ending == nil && !$0.value.isCancelled }.keys.min().map { .deed(.cancel($0)) }
    }

    /// The tasks that have not ended, and the resets: at the end, there are to be none.
    var unended: String? {
        let tasks = tasks.filter { $0.value.ending == nil }.keys.sorted()
        let resets = seen.resets.filter { $0.value.isEmpty }.keys.sorted()
        return tasks.isEmpty && resets.isEmpty ? nil : "tasks \(tasks), resets \(resets)"
    }

    /// What the caller's handles show, for the forms of `load` that return one.
    var cancelledHandles: Set<Int> {
        Set(tasks.filter { scenario.asks[$0.key].form != .task && $0.value.isCancelled }.keys).subtracting(touched)
    }
}

extension ChainModel {
    /// True if what has happened may take the library a moment, on other threads.
    var needsTime: Bool { scenario.hops || timerCount > 0 }

    /// Breaks the cycles of closures.
    func clear() {
        for node in tasks.values {
            (node.resume, node.parts, node.cancelHandlers, node.endHandlers) = (nil, [], [], [])
        }
        (tasks, held, bodies, terminalResets, throttles, shared, resetting) = ([:], [:], [:], [:], [:], [:], [:])
        (inFlight, tokens, keptByHold, pendingRefreshes, timers, turns) = ([:], [:], [:], [:], [], [])
    }
}
