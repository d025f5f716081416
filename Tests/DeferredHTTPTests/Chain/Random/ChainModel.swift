/// Says what has to be seen of a scenario, by the documented rules alone, on one thread and without the library.
///
/// Each link has a ``Node`` for each task that it loads. Whatever happens is a call of a function, and what waits is a
/// closure in a list. ``seen`` is what the library has to show after the same actions.
final class ChainModel {
    let scenario: Scenario
    var seen = Seen()
    /// The nodes of the tasks that were loaded, by the number of their request.
    var tasks: [Int: Node] = [:]
    /// The tasks that can be cancelled: not yet while `load(_:)` runs that returns the handle.
    var hasHandle: Set<Int> = []
    /// The results that callers have, unless they have dropped them.
    var results: [Int: Ending] = [:]
    var fired: Set<Int> = []
    private var hasReturned: Set<Int> = []
    var wasLoaded: Set<Int> = []
    /// The tasks in flight during a reset: which of them count as cancelled depends on what the loaders pass on.
    private(set) var touched: Set<Int> = []

    /// The tasks that a loader or the caller has completed from above. Which handlers are called below, and in which
    /// order, depends on what the loaders pass on.
    var cut: Set<Int> = []
    var isCutting = false

    // Of the network.
    var exchanges: [Int: Int] = [:]
    var held: [ExchangeName: (node: Node, answer: Scenario.Answer)] = [:]
    var bodies: [ExchangeName: Body] = [:]
    var terminalResets: [Int: [() -> Void]] = [:]

    // Of the loaders, by value.
    var throttles: [Int: Line] = [:]
    var shared: [Int: [Shared]] = [:]
    /// The number of resets under way, by value.
    var guards: [Int: Int] = [:]
    /// The resets under way, by chain.
    var resetting: [Int: Reset] = [:]
    var inFlight: [Int: InFlightRequests] = [:]
    var tokens: [Int: Tokens] = [:]
    var keptByHold: [Int: [(node: Node, goOn: () -> Void)]] = [:]
    var refreshCount = 0
    var pendingRefreshes: [Int: ((Bool) -> Void, Scenario.Refresh)] = [:]
    var resetCount = 0

    // Of the time, in microseconds.
    var now = 0
    var timers: [Timer] = []
    var timerCount = 0

    /// Places that become free are given away one after the other, and not while a reset cancels.
    var turns: [() -> Bool] = []
    var isTurning = false

    init(_ scenario: Scenario) {
        self.scenario = scenario.arranged
        for (index, value) in scenario.values.enumerated() {
            switch value {
            case .throttle(let maximum):
                throttles[index] = Line(maximum: maximum)
                seen.waiting[index] = 0
            case .deduplicate: seen.merged[index] = 0
            case .log: seen.lines[index] = 0
            case .resetGuard: guards[index] = 0
            case .autocancel: inFlight[index] = InFlightRequests()
            case .bearer: tokens[index] = Tokens()
            default: break
            }
        }
    }

    func perform(_ action: Action) {
        switch action {
        case .load(let number): begin(number)
        case .deed(let deed): perform(deed)
        case .answer(let name, let outcome):
            guard let (node, _) = held.removeValue(forKey: name) else { return }
            finish(node, name, outcome)
        case .endReset(let terminal):
            guard let first = terminalResets[terminal]?.first else { return }
            terminalResets[terminal]?.removeFirst()
            first()
        case .endRefresh(let number, let succeeds): pendingRefreshes.removeValue(forKey: number)?.0(succeeds)
        case .letGo(let value):
            guard let first = keptByHold[value]?.first else { return }
            keptByHold[value]?.removeFirst()
            seen.kept[value, default: 0] -= 1
            first.goOn()
        case .advance(let microseconds): pass(microseconds)
        case .endBody(let name, let end, let ask):
            if end == .drop { results[ask] = nil }
            bodies[name]?.finish(isCancelled: end != .read)
        }
    }

    func perform(_ deed: Scenario.Deed) {
        switch deed {
        case .cancel(let number):
            guard hasHandle.contains(number), let node = tasks[number], node.ending == nil else { return }
            cancel(node)
        case .complete(let number):
            guard hasHandle.contains(number), let node = tasks[number], node.ending == nil else { return }
            completeFromAbove(node, Ending(code: "timedOut"))
        case .reset(let chain):
            touched.formUnion(tasks.filter { $0.value.ending == nil }.keys)
            // What a Swift task waits for can end before it is cancelled itself, or after.
            if scenario.hops { cut.formUnion(touched) }
            let (number, before) = (resetCount, hasReturned)
            resetCount += 1
            seen.resets[number] = []
            reset(chain) { [unowned self] in
                seen.resets[number]?.append(open(of: before, in: chain))
            }
        }
    }

    /// Returns which tasks are not complete when the reset of a chain has ended. Those with another loader before the
    /// one that resets can be, for a moment.
    private func open(of tasks: Set<Int>, in chain: Int) -> String {
        guard scenario.resetsFirst(chain) else { return "" }
        let open = tasks.filter { scenario.asks[$0].chain == chain && self.tasks[$0]?.ending == nil }
        return "\(open.sorted())"
    }

    private func begin(_ number: Int) {
        let ask = scenario.asks[number]
        let node = Node(Sent(number, ask), parent: nil)
        if seen.resets.values.contains([]) { touched.insert(number) }
        wasLoaded.insert(number)
        tasks[number] = node
        node.resume = { [unowned self] ending in
            seen.ends[number, default: []].append(ending.text)
            results[number] = ending
        }
        if ask.form == .task { hasHandle.insert(number) }
        if ask.isCancelledBefore, ask.form == .task { cancel(node) }
        load(node, ask.chain, 0)
        hasHandle.insert(number)
        hasReturned.insert(number)
    }

    func fire(_ value: Int, _ ask: Int, isReturn: Bool) {
        for (index, trigger) in scenario.triggers.enumerated()
        where trigger.value == value && trigger.ask == ask && trigger.isReturn == isReturn && !fired.contains(index) {
            fired.insert(index)
            perform(trigger.deed)
        }
    }
}

extension Scenario {
    /// True if the first loaders of a chain are those that resets are for, so that nothing is in flight when it is
    /// reset.
    func resetsFirst(_ chain: Int) -> Bool {
        let first = arranged.chains[chain].links.first { values[$0] != .resetGuard }
        return first.map { values[$0] == .autocancel } ?? false
    }
}

extension ChainModel {
    /// What a request has become on its way.
    struct Sent: Equatable {
        let ask: Int
        var isPost: Bool
        var host: String?
        var isHostOfEnvironment = false
        var path: String
        var marks: [Int] = []
        var authorization: String?
        var hasField = false
        /// True behind a ``Scenario/Loader/followRedirects``: an option of the request says that the client is to
        /// follow none.
        var isFollowed = false

        init(_ number: Int, _ ask: Scenario.Ask) {
            self.ask = number
            isPost = ask.isPost
            host = ask.host
            path = "/\(ask.path)"
        }

        var text: String {
            Self.text(isPost, host, path, marks.map(String.init).joined(separator: "."), authorization, hasField)
        }

        static func text(
            _ isPost: Bool,
            _ host: String?,
            _ path: String,
            _ marks: String,
            _ authorization: String?,
            _ hasField: Bool
        ) -> String {
            "\(isPost ? "POST" : "GET") \(host ?? "-")\(path) [\(marks)] \(authorization ?? "-")\(hasField ? " e" : "")"
        }
    }
}

extension ChainModel {
    /// How a task ended.
    struct Ending {
        /// The code of the failure.
        var code: String?
        /// The status of the response, also of one that was refused.
        var status: Int?
        /// The exchange that brought the response.
        var exchange: ExchangeName?
        /// The request at the end of the chain.
        var request: Sent?
        var location: Scenario.Outcome?
        var body: Body?
        /// True for a failure that no other attempt can change.
        var isFinal = false

        static var missingTerminal: Ending { Ending(code: "cannotConnect", isFinal: true) }

        var text: String {
            Self.text(code, status, exchange.map { "\($0)" })
        }

        static func text(_ code: String?, _ status: Int?, _ exchange: String?) -> String {
            [code, status.map { "\($0)" }, exchange].map { $0 ?? "-" }.joined(separator: " ")
        }
    }
}
