extension ChainModel {
    /// A task at one link: what the link has added to it, and how it ended.
    final class Node {
        let request: Sent
        let parent: Node?
        /// The node that the caller loaded, or that a merging loader shares.
        var whole: Node { parent?.whole ?? self }
        /// Called with the ending; by default, the parent has it, too.
        var resume: ((Ending) -> Void)?
        var isCancelled = false
        /// True if a reset is about to cancel this.
        var isStopping = false
        var ending: Ending?
        private var lastNumber = 0
        /// What was passed on, as a closure that cancels it.
        var parts: [(number: Int, cancel: () -> Void)] = []
        var cancelHandlers: [(number: Int, call: () -> Void)] = []
        var endHandlers: [(Ending) -> Void] = []

        init(_ request: Sent, parent: Node?) {
            self.request = request
            self.parent = parent
        }

        var ask: Int { request.ask }
        var isToStop: Bool { isCancelled || whole.isStopping }

        func addPart(_ cancel: @escaping () -> Void) -> Int {
            lastNumber += 1
            parts.append((lastNumber, cancel))
            return lastNumber
        }

        @discardableResult
        func onCancel(_ call: @escaping () -> Void) -> Int {
            guard ending == nil else { return 0 }
            if isCancelled {
                call()
                return 0
            }
            lastNumber += 1
            cancelHandlers.append((lastNumber, call))
            return lastNumber
        }

        func onEnd(_ call: @escaping (Ending) -> Void) {
            if let ending { call(ending) } else { endHandlers.append(call) }
        }
    }
}

extension ChainModel {
    /// The first ending counts. The handlers are called, the oldest first, then the loader goes on that passed the task
    /// on, and what is under way for the task is cancelled.
    @discardableResult
    func complete(_ node: Node, _ ending: Ending) -> Bool {
        guard node.ending == nil else {
            drop(ending)
            return false
        }
        node.ending = ending
        let (handlers, parts) = (node.endHandlers, node.parts)
        (node.endHandlers, node.cancelHandlers, node.parts) = ([], [], [])
        for handler in handlers { handler(ending) }
        let resume = node.resume
        node.resume = nil
        if let resume { resume(ending) }
        let wasCutting = isCutting
        isCutting = true
        for part in parts.reversed() { part.cancel() }
        isCutting = wasCutting
        return true
    }

    /// Completes a task that another loader, or the network, still has.
    func completeFromAbove(_ node: Node, _ ending: Ending) {
        cut.insert(node.ask)
        complete(node, ending)
    }

    /// What was passed on is cancelled first, and then the handlers are called, the newest first.
    func cancel(_ node: Node) {
        guard node.ending == nil, !node.isCancelled else { return }
        node.isCancelled = true
        if isCutting { cut.insert(node.ask) }
        let (handlers, parts) = (node.cancelHandlers, node.parts)
        (node.cancelHandlers, node.parts) = ([], [])
        for part in parts.reversed() { part.cancel() }
        for handler in handlers.reversed() { handler.call() }
    }

    /// Returns true if the task is complete, now that it is if it was cancelled.
    func endsCancelled(_ node: Node) -> Bool {
        guard node.isToStop else { return node.ending != nil }
        cancel(node)
        complete(node, Ending(code: "cancelled"))
        return true
    }

    /// Passes the same task on.
    func pass(_ node: Node, _ chain: Int, _ index: Int) {
        if !endsCancelled(node) { load(node, chain, index) }
    }

    /// Passes a request on for a task, in a task of its own.
    func send(
        _ node: Node,
        _ request: Sent? = nil,
        to chain: Int,
        _ index: Int,
        then resume: ((Ending) -> Void)? = nil
    ) {
        if endsCancelled(node) { return }
        let child = Node(request ?? node.request, parent: node)
        let part = node.addPart { [unowned self] in cancel(child) }
        child.resume = { [unowned self] ending in
            node.parts.removeAll { $0.number == part }
            if let resume { resume(ending) } else { complete(node, ending) }
        }
        load(child, chain, index)
    }

    /// Nobody has the response any more.
    func drop(_ ending: Ending) { ending.body?.finish(isCancelled: true) }
}
