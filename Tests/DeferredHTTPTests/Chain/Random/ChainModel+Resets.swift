extension Scenario {
    /// The scenario with the links of its chains in the order in which the library joins them.
    var arranged: Scenario {
        var arranged = self
        for (index, chain) in chains.enumerated() {
            var links = chain.links.indices.filter { place in
                !values[chain.links[place]].countsOnce || !chain.links[..<place].contains(chain.links[place])
            }.map { chain.links[$0] }
            if let place = links.firstIndex(where: { values[$0].followsResets }) {
                let rest = links[place...]
                let guards = rest.filter { values[$0] == .resetGuard }
                let others = rest.filter { ![.resetGuard, .autocancel].contains(values[$0]) }
                links = links[..<place] + guards + rest.filter { values[$0] == .autocancel } + others
            }
            arranged.chains[index].links = links
        }
        return arranged
    }
}

extension Scenario.Loader {
    /// True if of a value that is twice in a chain, only the first counts.
    fileprivate var countsOnce: Bool {
        switch self {
        case .resetGuard, .autocancel, .throttle, .deduplicate, .rateLimit: true
        default: false
        }
    }

    /// True if the loaders that resets are for come before this one.
    fileprivate var followsResets: Bool {
        switch self {
        case .autocancel, .throttle, .deduplicate, .rateLimit, .retry, .backoff, .bearer, .followRedirects, .fallback,
            .router, .intercept, .validate, .deadline, .modify, .environment, .basic:
            true
        default: false
        }
    }
}

extension ChainModel {
    /// What an ``Scenario/Loader/autocancel`` cancels.
    struct InFlightRequests {
        /// The number of resets under way.
        var resets = 0
        var items: [(number: Int, cancel: () -> Void, end: () -> Void, node: Node?)] = []
        var lastNumber = 0
        /// What is to happen when nothing is in flight any more.
        var whenIdle: [() -> Void] = []
    }
}

extension ChainModel {
    /// The reset of a chain under way.
    struct Reset {
        var done: [() -> Void]
        var isResettingLoaders = false
        /// Of the resets that follow together.
        var next: [() -> Void] = []
    }
}

extension ChainModel {
    /// Resets a chain: nothing comes in, what is in flight ends, and then its loaders are reset.
    func reset(_ chain: Int, done: @escaping () -> Void) {
        let links = scenario.chains[chain].links
        let (gates, drained) = (links.filter { guards[$0] != nil }, links.filter { inFlight[$0] != nil })
        if gates.isEmpty, drained.isEmpty { return resetLoaders(chain, done) }
        // A reset that begins while another one cancels joins it, and one that begins later follows.
        guard let running = resetting[chain] else { return begin(chain, [done], gates, drained) }
        if running.isResettingLoaders {
            resetting[chain]!.next.append(done)
        } else {
            resetting[chain]!.done.append(done)
        }
    }

    private func begin(_ chain: Int, _ done: [() -> Void], _ gates: [Int], _ drained: [Int]) {
        resetting[chain] = Reset(done: done)
        for value in gates { guards[value]! += 1 }
        all(drained.map { value in { [unowned self] in drain(value, $0) } }) { [unowned self] in
            resetting[chain]!.isResettingLoaders = true
            resetLoaders(chain) { [unowned self] in
                guard let ended = resetting.removeValue(forKey: chain) else { return }
                if !ended.next.isEmpty { begin(chain, ended.next, gates, drained) }
                for value in drained { inFlight[value]!.resets -= 1 }
                for value in gates { guards[value]! -= 1 }
                for done in ended.done { done() }
            }
        }
    }

    private func resetLoaders(_ chain: Int, _ done: @escaping () -> Void) {
        let links = scenario.chains[chain].links
        let (bearers, others) = (links.filter { scenario.values[$0] == .bearer }, links.filter(leadsAside))
        all(bearers.map { value in { [unowned self] in forgetToken(value, done: $0) } }) { [unowned self] in
            let sides = others.map { _ in { [unowned self] in reset(Scenario.sideChain, done: $0) } }
            all(sides + [{ [unowned self] in resetTerminal(chain, $0) }], done)
        }
    }

    private func leadsAside(_ value: Int) -> Bool { [.fallback, .router].contains(scenario.values[value]) }

    private func resetTerminal(_ chain: Int, _ done: @escaping () -> Void) {
        guard scenario.chains[chain].hasTerminal else { return done() }
        seen.terminalResets[chain] += 1
        if scenario.chains[chain].resetsLater { terminalResets[chain, default: []].append(done) } else { done() }
    }

    /// Begins all, and calls `done` when the last has ended.
    private func all(_ bodies: [(@escaping () -> Void) -> Void], _ done: @escaping () -> Void) {
        var count = bodies.count + 1
        let end = {
            count -= 1
            if count == 0 { done() }
        }
        for body in bodies { body(end) }
        end()
    }

    // MARK: - Requests in flight

    /// Notes a request in flight; returns false during a reset.
    func fly(_ value: Int, _ node: Node) -> Bool {
        guard inFlight[value]!.resets == 0 else { return false }
        let number = add(
            value,
            cancel: { [unowned self] in cancel(node) },
            end: { [unowned self] in completeFromAbove(node, Ending(code: "cancelled")) },
            node
        )
        node.onEnd { [unowned self] ending in
            if let body = ending.body, body.isOpen {
                let number = add(value, cancel: { body.finish(isCancelled: true) }, end: {}, nil)
                let isToStop = inFlight[value]!.resets > 0
                body.onEnd { [unowned self] in left(value, number) }
                if isToStop { body.finish(isCancelled: true) }
            }
            left(value, number)
        }
        return true
    }

    private func add(_ value: Int, cancel: @escaping () -> Void, end: @escaping () -> Void, _ node: Node?) -> Int {
        inFlight[value]!.lastNumber += 1
        inFlight[value]!.items.append((inFlight[value]!.lastNumber, cancel, end, node))
        return inFlight[value]!.lastNumber
    }

    private func left(_ value: Int, _ number: Int) {
        inFlight[value]!.items.removeAll { $0.number == number }
        if !inFlight[value]!.items.isEmpty { return }
        let all = inFlight[value]!.whenIdle
        inFlight[value]!.whenIdle = []
        for next in all { next() }
    }

    private func drain(_ value: Int, _ done: @escaping () -> Void) {
        inFlight[value]!.resets += 1
        let items = inFlight[value]!.items
        if items.isEmpty { return done() }
        let timer = timer(after: Scenario.grace(value)) { [unowned self] in
            for item in inFlight[value]!.items.reversed() { item.end() }
        }
        inFlight[value]!.whenIdle.append {
            timer.cancel()
            done()
        }
        for item in items { item.node?.whole.isStopping = true }
        holdTurns { for item in items.reversed() { item.cancel() } }
    }
}
