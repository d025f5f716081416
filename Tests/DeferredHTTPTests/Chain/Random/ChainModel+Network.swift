extension ChainModel {
    /// The body of a response that is a stream.
    final class Body {
        private(set) var isOpen = true
        private var handlers: [() -> Void] = []
        private let whenCancelled: () -> Void

        init(whenCancelled: @escaping () -> Void) {
            self.whenCancelled = whenCancelled
        }

        func onEnd(_ handler: @escaping () -> Void) {
            if isOpen { handlers.append(handler) } else { handler() }
        }

        func finish(isCancelled: Bool) {
            guard isOpen else { return }
            isOpen = false
            let all = handlers
            handlers = []
            for handler in all { handler() }
            if isCancelled { whenCancelled() }
        }
    }
}

extension ChainModel {
    /// Something that happens later, unless it is cancelled.
    final class Timer {
        let deadline: Int
        let number: Int
        var fire: (() -> Void)?

        init(deadline: Int, number: Int, fire: @escaping () -> Void) {
            (self.deadline, self.number, self.fire) = (deadline, number, fire)
        }

        func cancel() { fire = nil }
    }
}

extension ChainModel {
    /// The terminal loader notes what it sends, and answers now or when a step says so.
    func arrive(_ node: Node, _ chain: Int) {
        if endsCancelled(node) { return }
        if !scenario.chains[chain].hasTerminal { return _ = complete(node, .missingTerminal) }
        let name = ExchangeName(ask: node.ask, number: exchanges[node.ask, default: 0])
        exchanges[node.ask] = name.number + 1
        seen.sent.append("\(name) T\(chain) \(node.request.text)")
        let answer = scenario.answer(name)
        guard answer.isHeld else { return finish(node, name, answer.outcome) }
        held[name] = (node, answer)
        node.onCancel { [unowned self] in
            seen.stopped.insert("\(name)")
            if answer.ignoresCancel { return }
            held[name] = nil
            complete(node, Ending(code: "cancelled"))
        }
        node.onEnd { [unowned self] _ in
            if held[name] != nil { seen.stopped.insert("\(name)") }
            if !answer.ignoresCancel { held[name] = nil }
        }
    }

    func finish(_ node: Node, _ name: ExchangeName, _ outcome: Scenario.Outcome) {
        switch outcome {
        case .status, .redirect:
            let status = if case .status(let status) = outcome { status } else { 302 }
            var ending = Ending(status: status, exchange: name, request: node.request, location: outcome)
            if scenario.asks[node.ask].isStream {
                let body = Body { [unowned self] in seen.cancelledBodies.insert("\(name)") }
                bodies[name] = body
                ending.body = body
            }
            complete(node, ending)
        case .connectionLost: complete(node, Ending(code: "connectionLost"))
        case .cannotConnect: complete(node, Ending(code: "cannotConnect"))
        case .release: abandon(node)
        }
    }

    /// A loader has released its task.
    func abandon(_ node: Node) { complete(node, Ending(code: node.isToStop ? "cancelled" : "abandoned")) }

    // MARK: - Time

    func timer(after microseconds: Int, _ fire: @escaping () -> Void) -> Timer {
        timerCount += 1
        let timer = Timer(deadline: now + microseconds, number: timerCount, fire: fire)
        timers.append(timer)
        return timer
    }

    func pass(_ microseconds: Int) {
        now += microseconds
        while let timer = nextTimers.first, timer.deadline <= now {
            timers.removeAll { $0 === timer }
            timer.fire?()
        }
    }

    /// The timers that will fire, in order.
    var nextTimers: [Timer] {
        timers.removeAll { $0.fire == nil }
        return timers.sorted { ($0.deadline, $0.number) < ($1.deadline, $1.number) }
    }

    // MARK: - Tokens

    /// The token of a ``Scenario/Loader/bearer``.
    struct Tokens {
        var current: String?
        /// The number of the refresh under way.
        var refresh: Int?
        /// True if a reset has cancelled the refresh.
        var isStopped = false
        /// Those that wait for a token.
        var waiting: [(node: Node, goOn: (String) -> Void)] = []
        /// The resets that wait for the end of a refresh.
        var resets: [() -> Void] = []
    }

    func token(_ value: Int, for node: Node, refused: String?, goOn: @escaping (String) -> Void) {
        if endsCancelled(node) { return }
        let tokens = self.tokens[value]!
        if tokens.refresh == nil, let current = tokens.current, current != refused { return goOn(current) }
        self.tokens[value]!.waiting.append((node, goOn))
        node.onCancel { [unowned self] in
            guard self.tokens[value]!.waiting.contains(where: { $0.node === node }) else { return }
            self.tokens[value]!.waiting.removeAll { $0.node === node }
            complete(node, Ending(code: "cancelled"))
        }
        node.onEnd { [unowned self] _ in self.tokens[value]!.waiting.removeAll { $0.node === node } }
        if tokens.refresh == nil { refresh(value, refused: refused) }
    }

    private func refresh(_ value: Int, refused: String?) {
        let number = refreshCount
        refreshCount += 1
        seen.refreshes.append("\(value) \(refused ?? "-")")
        tokens[value]!.refresh = number
        tokens[value]!.current = nil
        let refresh = scenario.refresh(number)
        if refresh.isHeld {
            pendingRefreshes[number] = ({ [unowned self] in refreshed(value, number, $0) }, refresh)
        } else {
            refreshed(value, number, refresh.succeeds)
        }
    }

    private func refreshed(_ value: Int, _ number: Int, _ succeeds: Bool) {
        guard let tokens = tokens[value], tokens.refresh == number else { return }
        self.tokens[value]!.refresh = nil
        if tokens.isStopped {
            self.tokens[value]!.isStopped = false
            self.tokens[value]!.resets = []
            for reset in tokens.resets { reset() }
            if !self.tokens[value]!.waiting.isEmpty, self.tokens[value]!.refresh == nil { refresh(value, refused: nil) }
            return
        }
        let token = "t\(number)"
        self.tokens[value]!.waiting = []
        if succeeds { self.tokens[value]!.current = token }
        for waiter in tokens.waiting {
            if succeeds { waiter.goOn(token) } else { complete(waiter.node, Ending(code: "authenticationFailed")) }
        }
    }

    /// Forgets the token. A refresh under way is cancelled, and waited for.
    func forgetToken(_ value: Int, done: @escaping () -> Void) {
        tokens[value]!.current = nil
        guard let number = tokens[value]!.refresh else { return done() }
        tokens[value]!.resets.append(done)
        tokens[value]!.isStopped = true
        if let (end, refresh) = pendingRefreshes[number], !refresh.ignoresCancel {
            pendingRefreshes[number] = nil
            end(false)
        }
    }
}

extension Scenario {
    func answer(_ name: ExchangeName) -> Answer {
        let answers = asks[name.ask].answers
        var answer = answers.isEmpty ? Answer() : answers[min(name.number, answers.count - 1)]
        if startsOneByOne { answer.isHeld = true }
        return answer
    }

    func refresh(_ number: Int) -> Refresh {
        refreshes.isEmpty ? Refresh() : refreshes[min(number, refreshes.count - 1)]
    }
}
