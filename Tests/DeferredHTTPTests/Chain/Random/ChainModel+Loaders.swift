extension ChainModel {
    /// Gives a task to the link of a chain with this index, or to its terminal loader.
    func load(_ node: Node, _ chain: Int, _ index: Int) {
        let links = scenario.chains[chain].links
        guard index < links.count else { return arrive(node, chain) }
        let (value, next) = (links[index], index + 1)
        switch scenario.values[value] {
        case .resetGuard:
            if guards[value] == 0 {
                pass(node, chain, next)
            } else if !endsCancelled(node) {
                complete(node, Ending(code: "resetInProgress"))
            }
        case .autocancel:
            if !fly(value, node) { cancel(node) }
            pass(node, chain, next)
        case .retry(let attempts, let pauses):
            attempt(node, 1, chain, next) { number, ending in
                let isTransient = ending.status == 503 || ["connectionLost", "timedOut"].contains(ending.code)
                guard isTransient, number < attempts else { return nil }
                return pauses ? Scenario.pause(number, node.ask, value) : 0
            }
        case .backoff(let attempts):
            attempt(node, 1, chain, next) { number, ending in
                let codes = ["connectionLost", "cannotConnect", "timedOut"]
                let isTransient = ending.status == 503 || ending.status == nil && codes.contains(ending.code ?? "")
                return isTransient && !ending.isFinal && !node.request.isPost && number < attempts ? 0 : nil
            }
        case .throttle:
            if !scenario.asks[node.ask].isThrottled { return pass(node, chain, next) }
            if !endsCancelled(node) { enter(value, node, chain, next) }
        case .deduplicate:
            if endsCancelled(node) { return }
            guard let key = Key(node.request, scenario) else {
                return pass(node, chain, next)
            }
            join(value, key, node, chain, next)
        case .rateLimit:
            pass(node, chain, next)
        case .modify(let refused):
            if endsCancelled(node) { return }
            if node.request.path == "/\(refused ?? -1)" { return _ = complete(node, Ending(code: "invalidRequest")) }
            send(node, marked(node, value), to: chain, next)
        case .environment:
            if let completed = completed(node.request) {
                send(node, completed, to: chain, next)
            } else {
                pass(node, chain, next)
            }
        case .validate:
            send(node, to: chain, next) { [unowned self] ending in
                var ending = ending
                if ending.code == nil, ending.status.map({ $0 / 100 != 2 }) == true {
                    ending.code = "unacceptableStatus"
                }
                complete(node, ending)
            }
        case .basic:
            if wantsCredential(node, for: "b") {
                send(node, authorized(node, "Basic dTpw"), to: chain, next)
            } else {
                pass(node, chain, next)
            }
        case .bearer: authorize(value, node, chain, next)
        case .deadline: limit(value, node, chain, next)
        case .fallback:
            send(node, to: chain, next) { [unowned self] ending in
                guard !node.isToStop, ending.code == "cannotConnect", !ending.isFinal else {
                    return _ = complete(node, ending)
                }
                drop(ending)
                send(node, to: Scenario.sideChain, 0)
            }
        case .router:
            if node.request.host == "b" { pass(node, Scenario.sideChain, 0) } else { pass(node, chain, next) }
        case .followRedirects:
            var request = node.request
            request.isFollowed = true
            follow(node, request, 0, chain, next)
        case .log:
            node.onEnd { [unowned self] ending in
                if ending.code == nil, let body = ending.body {
                    body.onEnd { [unowned self] in seen.lines[value]! += 1 }
                } else {
                    seen.lines[value]! += 1
                }
            }
            pass(node, chain, next)
        case .intercept: if !endsCancelled(node) { send(node, to: chain, next) }
        case .custom(let custom): load(custom, value, node, chain, next)
        }
    }

    private func load(_ custom: Scenario.Custom, _ value: Int, _ node: Node, _ chain: Int, _ next: Int) {
        switch custom {
        case .same, .passingObject: pass(node, chain, next)
        case .mark, .object: send(node, marked(node, value), to: chain, next)
        case .watch: watch(value, node, chain, next)
        case .empty:
            send(node, to: chain, next) { [unowned self] ending in
                guard ending.code == nil, ending.status == 404 else { return _ = complete(node, ending) }
                drop(ending)
                complete(node, Ending(status: 200, request: node.request))
            }
        case .again:
            send(node, to: chain, next) { [unowned self] ending in
                guard ending.code == nil, ending.status == 503 else { return _ = complete(node, ending) }
                drop(ending)
                send(node, to: chain, next)
            }
        case .answer:
            if node.request.path != "/2" { return pass(node, chain, next) }
            if !endsCancelled(node) { complete(node, Ending(status: 204, request: node.request)) }
        case .drop: if node.request.path == "/2" { abandon(node) } else { pass(node, chain, next) }
        case .twice:
            send(node, to: chain, next) { [unowned self] ending in
                complete(node, ending)
                if complete(node, Ending(code: "unknown")) { seen.wrong.append("completed twice") }
            }
        case .hold:
            if endsCancelled(node) { return }
            let handler = node.onCancel { [unowned self] in complete(node, Ending(code: "cancelled")) }
            let goOn = { [unowned self] in
                node.cancelHandlers.removeAll { $0.number == handler }
                pass(node, chain, next)
            }
            keptByHold[value, default: []].append((node, goOn))
            seen.kept[value, default: 0] += 1
            node.onEnd { [unowned self] _ in
                guard keptByHold[value]?.contains(where: { $0.node === node }) == true else { return }
                keptByHold[value]?.removeAll { $0.node === node }
                seen.kept[value, default: 0] -= 1
            }
        }
    }

    private func watch(_ value: Int, _ node: Node, _ chain: Int, _ next: Int) {
        let ask = node.ask
        fire(value, ask, isReturn: false)
        for number in 0..<2 {
            node.onCancel { [unowned self] in seen.cancels[ask, default: []].append("\(value) \(number)") }
            node.onEnd { [unowned self] _ in seen.completions[ask, default: []].append("\(value) \(number)") }
        }
        send(node, to: chain, next) { [unowned self] ending in
            seen.results[ask, default: []].append("\(value)")
            fire(value, ask, isReturn: true)
            complete(node, ending)
        }
    }

    // MARK: - Requests

    private func marked(_ node: Node, _ value: Int) -> Sent {
        var request = node.request
        request.marks.append(value)
        return request
    }

    private func authorized(_ node: Node, _ field: String) -> Sent {
        var request = node.request
        request.authorization = field
        return request
    }

    /// The environment completes a request without a host, and repeats its field where it has done so before; nil for others.
    private func completed(_ request: Sent) -> Sent? {
        guard request.host == nil || request.isHostOfEnvironment else { return nil }
        var request = request
        if request.host == nil {
            (request.host, request.isHostOfEnvironment) = ("e", true)
            request.path = "/v" + request.path
        }
        request.hasField = true
        return request
    }

    private func wantsCredential(_ node: Node, for host: String) -> Bool {
        guard scenario.asks[node.ask].isAuthenticated, node.request.authorization == nil else { return false }
        return isAddressed(node.request, to: host)
    }

    private func isAddressed(_ request: Sent, to host: String) -> Bool {
        request.host == nil || request.isHostOfEnvironment || request.host == host
    }

    // MARK: - Attempts

    private func attempt(
        _ node: Node,
        _ number: Int,
        _ chain: Int,
        _ next: Int,
        pause: @escaping (Int, Ending) -> Int?
    ) {
        send(node, to: chain, next) { [unowned self] ending in
            guard !node.isToStop, ending.code != "cancelled", scenario.asks[node.ask].isRetried,
                let microseconds = pause(number, ending)
            else { return _ = complete(node, ending) }
            drop(ending)
            let goOn = { [unowned self] in attempt(node, number + 1, chain, next, pause: pause) }
            if microseconds == 0 { return goOn() }
            let handler = node.onCancel { [unowned self] in complete(node, Ending(code: "cancelled")) }
            let timer = timer(after: microseconds) {
                node.cancelHandlers.removeAll { $0.number == handler }
                goOn()
            }
            node.onEnd { _ in timer.cancel() }
        }
    }

    private func follow(_ node: Node, _ request: Sent, _ count: Int, _ chain: Int, _ next: Int) {
        send(node, request, to: chain, next) { [unowned self] ending in
            guard case .redirect(let isAway)? = ending.location, let sent = ending.request, sent.host != nil else {
                return _ = complete(node, ending)
            }
            drop(ending)
            if count == Scenario.redirectLimit {
                let (status, exchange) = (ending.status, ending.exchange)
                return _ = complete(node, Ending(code: "tooManyRedirects", status: status, exchange: exchange))
            }
            var following = request
            (following.path, following.isPost) = ("/moved", false)
            following.host = isAway ? "elsewhere" : sent.host
            following.isHostOfEnvironment = !isAway && sent.isHostOfEnvironment
            if isAway, sent.host != "elsewhere" { (following.authorization, following.hasField) = (nil, false) }
            follow(node, following, count + 1, chain, next)
        }
    }

    private func authorize(_ value: Int, _ node: Node, _ chain: Int, _ next: Int) {
        guard wantsCredential(node, for: "a") else { return pass(node, chain, next) }
        let begin = { [unowned self] (token: String) in
            send(node, authorized(node, "Bearer \(token)"), to: chain, next) { [unowned self] ending in
                // One of another server, to which a redirect has led, refuses no token: it got none.
                guard ending.status == 401, ending.request.map({ isAddressed($0, to: "a") }) ?? true else {
                    return _ = complete(node, ending)
                }
                drop(ending)
                self.token(value, for: node, refused: token) { [unowned self] fresh in
                    send(node, authorized(node, "Bearer \(fresh)"), to: chain, next)
                }
            }
        }
        if tokens[value]!.refresh == nil, let current = tokens[value]!.current { return begin(current) }
        token(value, for: node, refused: nil, goOn: begin)
    }

    private func limit(_ value: Int, _ node: Node, _ chain: Int, _ next: Int) {
        if endsCancelled(node) { return }
        var body: Body?
        let timer = timer(after: Scenario.limit(node.ask, value, scenario.asks[node.ask].hasDeadline)) {
            [unowned self] in
            completeFromAbove(node, Ending(code: "timedOut"))
            body?.finish(isCancelled: true)
        }
        node.onEnd { ending in
            body = ending.body
            if let body { body.onEnd { timer.cancel() } } else { timer.cancel() }
        }
        send(node, to: chain, next)
    }
}

extension Scenario {
    static let redirectLimit = 2

    /// Times that differ for each request and loader, so that no two timers fire at once.
    static func pause(_ number: Int, _ ask: Int, _ value: Int) -> Int { number * 1_000_000 + ask * 1_009 + value * 37 }
    static func limit(_ ask: Int, _ value: Int, _ isOwn: Bool) -> Int {
        isOwn ? 2_500_000 + ask * 1_013 : 3_500_000 + value * 41
    }
    static func grace(_ value: Int) -> Int { 5_000_000 + value * 43 }
}
