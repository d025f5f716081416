import TestSupport

/// Makes random scenarios; a seed makes the same one each time.
struct ScenarioGenerator {
    private var random: SeededGenerator
    private var scenario: Scenario

    static func scenario(seed: UInt64) -> Scenario {
        var generator = ScenarioGenerator(random: SeededGenerator(seed: seed), scenario: Scenario(seed: seed))
        generator.addLoaders()
        generator.addAsks()
        generator.addSteps()
        generator.addTriggers()
        return generator.scenario
    }

    private mutating func number(_ range: Range<Int>) -> Int { Int.random(in: range, using: &random) }
    private mutating func chance(_ percent: Int) -> Bool { number(0..<100) < percent }
    private mutating func pick<Element>(_ all: [Element]) -> Element { all[number(0..<all.count)] }

    // MARK: - Loaders

    private mutating func addLoaders() {
        let hops = chance(10)
        for _ in 0..<number(2..<9) { scenario.values.append(loader(hops: hops)) }
        if hops, !scenario.values.contains(.intercept) { scenario.values[0] = .intercept }
        let own = scenario.values.count
        scenario.values += [.custom(.mark), .validate, .throttle(maximum: 1)]
        for index in 0..<2 {
            var links = (0..<own).filter { _ in index == 0 ? chance(85) : chance(50) }.shuffled(using: &random)
            // Of two deadlines that pass at the same moment, either can come first.
            if chance(15), let again = links.randomElement(using: &random), scenario.values[again] != .deadline {
                links.insert(again, at: number(0..<links.count + 1))
            }
            scenario.chains.append(chain(links))
        }
        scenario.chains.append(chain(Array((own..<own + (hops ? 2 : 3)).filter { _ in chance(50) })))
        sortShared()
        addWatches()
        scenario.chains[0].lacksTerminal = chance(3) && !scenario.startsOneByOne
    }

    private mutating func chain(_ links: [Int]) -> Scenario.Chain {
        Scenario.Chain(links: links, joining: pick(Scenario.Joining.allCases), resetsLater: chance(25))
    }

    private mutating func loader(hops: Bool) -> Scenario.Loader {
        let customs = Scenario.Custom.allCases
        var loaders: [Scenario.Loader] = [
            .resetGuard, .autocancel, .autocancel, .validate, .basic, .followRedirects, .log, .rateLimit, .environment,
            .deadline, .fallback, .router, .modify(refused: chance(30) ? 1 : nil),
            .retry(attempts: number(1..<4), pauses: chance(40)), .backoff(attempts: number(1..<4)),
            .custom(pick(customs)), .custom(pick(customs)), .custom(.watch),
            .deduplicate, .throttle(maximum: number(1..<4)), .throttle(maximum: 1), .bearer,
        ]
        // Which of two requests comes first when both wait for a Swift task can't be said.
        if hops { loaders.removeLast(4) }
        return pick(hops ? loaders + [.intercept, .intercept] : loaders)
    }

    /// Two chains have the values in which requests wait for each other in the same order, as the documentation demands:
    /// otherwise two could wait for ever.
    private mutating func sortShared() {
        let values = scenario.values
        for index in 0..<2 {
            let places = scenario.chains[index].links.indices.filter { place in
                let value = values[scenario.chains[index].links[place]]
                return value.letsWait && value != .bearer
            }
            let sorted = places.map { scenario.chains[index].links[$0] }.sorted()
            for (place, value) in zip(places, sorted) { scenario.chains[index].links[place] = value }
        }
    }

    private mutating func addWatches() {
        scenario.values.append(.custom(.watch))
        for index in 0..<2 where !scenario.isClear {
            let links = scenario.chains[index].links.flatMap { value in
                scenario.values[value].letsWait ? [scenario.values.count - 1, value] : [value]
            }
            scenario.chains[index].links = links
        }
    }

    // MARK: - Requests

    private mutating func addAsks() {
        // A loader that merges equal requests is to have some, and some that join one that is cancelled, and goes on.
        let areEqual = scenario.values.contains(.deduplicate) && chance(40)
        for _ in 0..<number(1..<8) {
            var ask = Scenario.Ask()
            ask.chain = chance(75) ? 0 : 1
            ask.path = chance(60) ? 0 : number(0..<3)
            ask.isPost = chance(10)
            ask.host = pick(["a", "a", "a", "b", nil])
            ask.isStream = chance(15)
            ask.isThrottled = !chance(5)
            if chance(10) { ask.isDeduplicated = chance(50) }
            ask.isAuthenticated = !chance(5)
            ask.isRetried = !chance(5)
            ask.hasDeadline = chance(10)
            ask.isCancelledBefore = chance(4)
            ask.form = pick([.task, .task, .request, .closure])
            if areEqual {
                (ask.path, ask.host, ask.isPost, ask.isStream) = (0, "a", false, false)
                (ask.isDeduplicated, ask.isRetried, ask.hasDeadline) = (nil, true, false)
            }
            for _ in 0..<number(1..<4) { ask.answers.append(answer(ignoresCancel: areEqual ? 60 : 20)) }
            scenario.asks.append(ask)
        }
        for _ in 0..<number(1..<3) {
            scenario.refreshes.append(.init(succeeds: chance(75), isHeld: chance(50), ignoresCancel: chance(25)))
        }
    }

    private mutating func answer(ignoresCancel: Int) -> Scenario.Answer {
        let outcome: Scenario.Outcome =
            switch number(0..<100) {
            case 0..<40: .status(200)
            case 40..<55: .status(503)
            case 55..<65: .status(401)
            case 65..<72: .status(404)
            case 72..<80: .redirect(isAway: chance(40))
            case 80..<87: .connectionLost
            case 87..<95: .cannotConnect
            default: .release
            }
        return Scenario.Answer(outcome: outcome, isHeld: chance(65), ignoresCancel: chance(ignoresCancel))
    }

    // MARK: - Events

    private mutating func deed() -> Scenario.Deed {
        switch number(0..<10) {
        case 0..<5: .cancel(number(0..<scenario.asks.count))
        case 5..<6: .complete(number(0..<scenario.asks.count))
        default: .reset(chance(75) ? 0 : 1)
        }
    }

    private mutating func addTriggers() {
        let watches = scenario.values.indices.filter { scenario.values[$0] == .custom(.watch) }
        if watches.isEmpty || scenario.hops { return }
        for _ in 0..<number(0..<3) {
            let ask = number(0..<scenario.asks.count)
            // What happens to another request, or another reset, depends on what it has just got to do.
            var deed = chance(60) ? Scenario.Deed.cancel(ask) : .complete(ask)
            let isReturn = chance(40)
            let resetsOnce = !isReturn || !scenario.steps.contains { $0.isReset }
            if chance(30), resetsOnce { deed = .reset(scenario.asks[ask].chain) }
            scenario.triggers.append(.init(value: pick(watches), ask: ask, isReturn: isReturn, deed: deed))
        }
    }

    private mutating func addSteps() {
        var next = 0
        for _ in 0..<number(4..<24) {
            switch number(0..<100) {
            case 0..<40:
                scenario.steps.append(.load(next))
                next += 1
            case 40..<60: scenario.steps.append(.answer(number(0..<4)))
            case 60..<80: scenario.steps.append(.deed(deed()))
            case 80..<86: scenario.steps.append(.advance)
            case 86..<89: scenario.steps.append(.endReset)
            case 89..<93: scenario.steps.append(.endRefresh(succeeds: chance(70)))
            case 93..<96: scenario.steps.append(.letGo)
            default: scenario.steps.append(.endBody(number(0..<3), pick(Scenario.BodyEnd.allCases)))
            }
        }
    }
}

extension Scenario.Step {
    fileprivate var isReset: Bool { if case .deed(.reset) = self { true } else { false } }
}
