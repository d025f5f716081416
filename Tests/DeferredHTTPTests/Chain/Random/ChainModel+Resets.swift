extension ChainModel {
    /// A reset under way of a value that can be in several chains: those that overlap are one.
    final class Reset {
        private var members: Set<[Int]> = []
        var nexts: [((@escaping () -> Void) -> Void)?] = []
        var pending = 0
        var done: [() -> Void] = []

        /// Returns false if the place in a chain takes part already.
        func join(_ place: [Int], _ next: ((@escaping () -> Void) -> Void)?) -> Bool {
            guard members.insert(place).inserted else { return false }
            nexts.append(next)
            pending += 1
            return true
        }
    }
}

extension ChainModel {
    /// A ``Scenario/Loader/resetGuard``.
    struct Gate {
        var reset: Reset?
        var holders = 0
        var isClosed: Bool { reset != nil || holders > 0 }
    }
}

extension ChainModel {
    /// What an ``Scenario/Loader/autocancel`` cancels.
    struct Flights {
        enum State { case open, draining, resettingNext }
        var state = State.open
        var items: [(number: Int, cancel: () -> Void, end: () -> Void, node: Node?)] = []
        var lastNumber = 0
        var reset: Reset?
        var holders = 0
        var timer: Timer?
    }
}

extension ChainModel {
    /// Resets the loaders of a chain from this one on.
    func reset(_ chain: Int, at index: Int, done: @escaping () -> Void) {
        let links = scenario.chains[chain].links
        guard index < links.count else { return resetTerminal(chain, done) }
        let (value, next) = (links[index], { [unowned self] in reset(chain, at: index + 1, done: $0) })
        switch scenario.values[value] {
        case .resetGuard:
            if links[(index + 1)...].contains(value) { return next(done) }
            resetGuard(value, [chain, index], next, done)
        case .autocancel:
            let occursAgain = links[(index + 1)...].contains(value)
            keepOut(chain, index + 1, done) { [unowned self] done in
                guard occursAgain else { return drain(value, [chain, index], next, done) }
                drain(value, [chain, index], nil) { next(done) }
            }
        case .bearer:
            drainLater(chain, index, done) { [unowned self] done in
                both({ self.forgetToken(value, done: $0) }, next, done)
            }
        case .fallback:
            drainLater(chain, index, done) { [unowned self] done in
                both(next, { self.reset(Scenario.sideChain, at: 0, done: $0) }, done)
            }
        case .router: both({ [unowned self] in reset(Scenario.sideChain, at: 0, done: $0) }, next, done)
        default: next(done)
        }
    }

    private func resetTerminal(_ chain: Int, _ done: @escaping () -> Void) {
        guard scenario.chains[chain].hasTerminal else { return done() }
        seen.terminalResets[chain] += 1
        if scenario.chains[chain].resetsLater { terminalResets[chain, default: []].append(done) } else { done() }
    }

    private func both(
        _ one: (@escaping () -> Void) -> Void,
        _ other: (@escaping () -> Void) -> Void,
        _ done: @escaping () -> Void
    ) {
        var count = 2
        let part = {
            count -= 1
            if count == 0 { done() }
        }
        one(part)
        other(part)
    }

    private func resetGuard(
        _ value: Int,
        _ place: [Int],
        _ next: (@escaping () -> Void) -> Void,
        _ done: @escaping () -> Void
    ) {
        let reset = guards[value]!.reset ?? Reset()
        guards[value]!.reset = reset
        reset.done.append(done)
        guard reset.join(place, nil) else { return }
        next { [unowned self] in
            reset.pending -= 1
            if reset.pending > 0 { return }
            guards[value]!.reset = nil
            for done in reset.done { done() }
        }
    }

    // MARK: - Requests in flight

    /// Returns the values after a loader that resets are for, and that each request meets.
    private func later(_ chain: Int, _ index: Int) -> [Int] {
        scenario.chains[chain].links[index...].prefix { scenario.values[$0] != .router }.filter {
            [.resetGuard, .autocancel].contains(scenario.values[$0])
        }
    }

    /// Notes a request at a loader that lets requests wait, or loads them again; ends it during a reset.
    func admit(_ node: Node, _ chain: Int, _ next: Int) -> Bool {
        let later = later(chain, next)
        if later.contains(where: { guards[$0]?.isClosed == true }) {
            if !endsCancelled(node) { complete(node, Ending(code: "resetInProgress")) }
            return false
        }
        for value in later where flights[value] != nil && !fly(value, node) { cancel(node) }
        return true
    }

    /// Notes a request in flight; returns false during a reset.
    func fly(_ value: Int, _ node: Node) -> Bool {
        guard flights[value]!.state == .open, flights[value]!.holders == 0 else { return false }
        let number = add(
            value,
            cancel: { [unowned self] in cancel(node) },
            end: { [unowned self] in completeFromAbove(node, Ending(code: "cancelled")) },
            node
        )
        node.onEnd { [unowned self] ending in
            if let body = ending.body, body.isOpen {
                let number = add(value, cancel: { body.finish(isCancelled: true) }, end: {}, nil)
                let isToStop = flights[value]!.state != .open
                body.onEnd { [unowned self] in left(value, number) }
                if isToStop { body.finish(isCancelled: true) }
            }
            left(value, number)
        }
        return true
    }

    private func add(_ value: Int, cancel: @escaping () -> Void, end: @escaping () -> Void, _ node: Node?) -> Int {
        flights[value]!.lastNumber += 1
        flights[value]!.items.append((flights[value]!.lastNumber, cancel, end, node))
        return flights[value]!.lastNumber
    }

    private func left(_ value: Int, _ number: Int) {
        flights[value]!.items.removeAll { $0.number == number }
        if flights[value]!.state == .draining, flights[value]!.items.isEmpty { resetNexts(value) }
    }

    private func drain(
        _ value: Int,
        _ place: [Int],
        _ next: ((@escaping () -> Void) -> Void)?,
        _ done: @escaping () -> Void
    ) {
        returning({ drainNow(value, place, next, $0) }, done)
    }

    private func drainNow(
        _ value: Int,
        _ place: [Int],
        _ next: ((@escaping () -> Void) -> Void)?,
        _ done: @escaping () -> Void
    ) {
        let reset = flights[value]!.reset ?? Reset()
        flights[value]!.reset = reset
        reset.done.append(done)
        guard reset.join(place, next) else { return }
        switch flights[value]!.state {
        case .draining: break
        case .resettingNext: run(value, reset, next)
        case .open:
            if flights[value]!.items.isEmpty { return resetNexts(value) }
            flights[value]!.state = .draining
            let items = flights[value]!.items
            flights[value]!.timer = timer(after: Scenario.grace(value)) { [unowned self] in
                for item in flights[value]!.items.reversed() { item.end() }
            }
            for item in items { item.node?.whole.isStopping = true }
            holdTurns { for item in items.reversed() { item.cancel() } }
        }
    }

    private func resetNexts(_ value: Int) {
        flights[value]!.state = .resettingNext
        flights[value]!.timer?.cancel()
        guard let reset = flights[value]!.reset else { return }
        for next in reset.nexts { run(value, reset, next) }
    }

    private func run(_ value: Int, _ reset: Reset, _ next: ((@escaping () -> Void) -> Void)?) {
        let end = { [unowned self] in
            reset.pending -= 1
            if reset.pending > 0 { return }
            flights[value]!.state = .open
            flights[value]!.reset = nil
            for done in reset.done { done() }
        }
        if let next { next(end) } else { end() }
    }

    /// Lets no request in at the later loaders that resets are for, while `body` does a reset.
    private func keepOut(
        _ chain: Int,
        _ next: Int,
        _ done: @escaping () -> Void,
        _ body: (@escaping () -> Void) -> Void
    ) {
        let later = later(chain, next)
        hold(later, 1)
        returning(body) { [unowned self] in
            hold(later, -1)
            done()
        }
    }

    /// Calls `done` when `body` has, but not before it has returned.
    private func returning(_ body: (@escaping () -> Void) -> Void, _ done: @escaping () -> Void) {
        var (hasReturned, isDone) = (false, false)
        body {
            if hasReturned { done() } else { isDone = true }
        }
        hasReturned = true
        if isDone { done() }
    }

    private func hold(_ values: [Int], _ change: Int) {
        for value in values {
            guards[value]?.holders += change
            flights[value]?.holders += change
        }
    }

    /// Also cancels the requests in flight there, and waits for them, before `body`.
    private func drainLater(
        _ chain: Int,
        _ index: Int,
        _ done: @escaping () -> Void,
        _ body: @escaping (@escaping () -> Void) -> Void
    ) {
        let values = later(chain, index + 1).filter { flights[$0] != nil }
        keepOut(chain, index + 1, done) { [unowned self] done in
            guard !values.isEmpty else { return body(done) }
            var count = values.count
            for value in values {
                drain(value, [chain, index, -1], nil) {
                    count -= 1
                    if count == 0 { body(done) }
                }
            }
        }
    }
}
