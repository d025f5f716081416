extension ChainModel {
    /// The places of a ``Scenario/Loader/throttle``, and those that wait for one.
    struct Line {
        let maximum: Int
        var running = 0
        /// Those that wait, by host, the host first whose turn it is. One that has left is there until its turn.
        private var waiting: [(host: String, nodes: [(node: Node, goOn: (() -> Void)?)])] = []
        private(set) var count = 0

        mutating func append(_ node: Node, host: String, goOn: @escaping () -> Void) {
            count += 1
            if let index = waiting.firstIndex(where: { $0.host == host }) {
                waiting[index].nodes.append((node, goOn))
            } else {
                waiting.append((host, [(node, goOn)]))
            }
        }

        /// Returns true if the request was waiting.
        mutating func remove(_ node: Node) -> Bool {
            for line in waiting.indices {
                for index in waiting[line].nodes.indices where waiting[line].nodes[index].node === node {
                    guard waiting[line].nodes[index].goOn != nil else { continue }
                    waiting[line].nodes[index].goOn = nil
                    count -= 1
                    return true
                }
            }
            return false
        }

        mutating func popFirst() -> (() -> Void)? {
            while !waiting.isEmpty {
                var first = waiting.removeFirst()
                while !first.nodes.isEmpty {
                    guard let goOn = first.nodes.removeFirst().goOn else { continue }
                    if !first.nodes.isEmpty { waiting.append(first) }
                    count -= 1
                    return goOn
                }
            }
            return nil
        }

        init(maximum: Int) {
            self.maximum = maximum
        }
    }

    /// What makes requests equal.
    struct Key: Equatable {
        private var request: [String]
        private let options: [String]

        /// `nil` for a request that is not to be merged.
        init?(_ request: Sent, _ scenario: Scenario) {
            let ask = scenario.asks[request.ask]
            guard ask.isDeduplicated ?? !request.isPost, !ask.isStream, ask.isRetried else { return nil }
            self.request = [request.text]
            options = [
                "\(ask.isThrottled) \(ask.isAuthenticated) \(ask.isDeduplicated as Any)",
                "\(request.isHostOfEnvironment) \(request.isFollowed)",
                ask.hasDeadline ? "\(request.ask)" : "",
            ]
        }
    }
}

extension ChainModel {
    /// An execution for equal requests.
    final class Shared {
        let key: Key
        let node: Node
        var consumers: [Node] = []
        var isOpen = true

        init(_ key: Key, _ node: Node) {
            (self.key, self.node) = (key, node)
        }
    }
}

extension ChainModel {
    // MARK: - Places

    func enter(_ value: Int, _ node: Node, _ chain: Int, _ next: Int) {
        let goOn = { [unowned self] in
            node.onEnd { [unowned self] ending in
                if let body = ending.body { body.onEnd { [unowned self] in leave(value) } } else { leave(value) }
            }
            pass(node, chain, next)
        }
        let line = throttles[value]!
        if line.running < line.maximum, line.count == 0 {
            throttles[value]!.running += 1
            return goOn()
        }
        throttles[value]!.append(node, host: node.request.host ?? "", goOn: goOn)
        noteWaiting(value)
        node.onCancel { [unowned self] in
            guard throttles[value]!.remove(node) else { return }
            noteWaiting(value)
            complete(node, Ending(code: "cancelled"))
        }
        node.onEnd { [unowned self] _ in
            if throttles[value]!.remove(node) { noteWaiting(value) }
        }
    }

    private func leave(_ value: Int) {
        throttles[value]!.running -= 1
        if throttles[value]!.count > 0 { run { [unowned self] in startNext(value) } }
    }

    private func startNext(_ value: Int) -> Bool {
        guard throttles[value]!.running < throttles[value]!.maximum, throttles[value]!.count > 0,
            let goOn = throttles[value]!.popFirst()
        else { return false }
        throttles[value]!.running += 1
        noteWaiting(value)
        goOn()
        return true
    }

    private func noteWaiting(_ value: Int) { seen.waiting[value] = throttles[value]!.count }

    /// Calls a turn until it returns false: now, or when the turns, and the cancelling of a reset, under way have
    /// returned.
    private func run(_ turn: @escaping () -> Bool) {
        turns.append(turn)
        holdTurns {}
    }

    func holdTurns(_ body: () -> Void) {
        let isNested = isTurning
        isTurning = true
        body()
        if isNested { return }
        while let turn = turns.popLast() {
            while turn() {}
        }
        isTurning = false
    }

    // MARK: - Equal requests

    func join(_ value: Int, _ key: Key, _ node: Node, _ chain: Int, _ next: Int) {
        if let open = shared[value]?.first(where: { $0.isOpen && $0.key == key }) {
            seen.merged[value]! += 1
            consume(open, node)
            return
        }
        let new = Shared(key, Node(node.request, parent: nil))
        shared[value, default: []].append(new)
        consume(new, node)
        new.node.resume = { [unowned self] ending in
            new.isOpen = false
            shared[value]?.removeAll { $0 === new }
            let consumers = new.consumers
            new.consumers = []
            for consumer in consumers { complete(consumer, ending) }
        }
        pass(new.node, chain, next)
    }

    private func consume(_ shared: Shared, _ node: Node) {
        shared.consumers.append(node)
        let leave = { [unowned self] in
            guard shared.node.ending == nil else { return }
            let isLast = shared.consumers.count == 1 && shared.consumers[0] === node
            if isLast { shared.isOpen = false }
            // The end of the execution is that of the last request, if it waits for it.
            if !isLast || node.ending != nil { shared.consumers.removeAll { $0 === node } }
            if isLast { cancel(shared.node) } else { complete(node, Ending(code: "cancelled")) }
        }
        if node.isCancelled || node.ending != nil { leave() } else { _ = node.addPart(leave) }
    }
}
