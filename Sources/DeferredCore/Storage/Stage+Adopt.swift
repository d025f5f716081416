extension Stage {
    /// Takes over the value of `inner`, now or when it comes; true if a reference went to `drain` or to `inner`.
    @inlinable
    func adopt(_ inner: FutureStorage<T.Output>, isSole: Bool, _ drain: inout Drain) -> Bool {
        if inner.word.isFilled { return finish(with: inner.value, &drain) }
        if isSole, moveHandlers(to: inner, &drain) { return false }
        isAdopting = true
        if inner.word.push(Unmanaged.passUnretained(self)) { return true }
        return finish(with: inner.value, &drain)
    }
}

extension FutureStorage {
    /// Lets the handlers wait for `inner` itself. Only for a future that nobody but the caller can reach.
    ///
    /// This is what lets a recursive `flatMap` run for ever in constant memory: of the chain of futures that wait for
    /// one another, only the two ends are left.
    @usableFromInline
    final func moveHandlers(to inner: FutureStorage<Value>, _ drain: inout Drain) -> Bool {
        let handlers = word.publish()
        guard handlers.arePermanent else {
            // A registration knows this future as its handler's owner.
            word.reopen(with: handlers)
            return false
        }
        var list = handlers.reversed()
        while let handler = list.pop() {
            if inner.word.push(handler) { continue }
            drain.run(handler, with: inner)
        }
        return true
    }
}

extension FutureNode.List {
    /// Whether none of them can be taken back.
    fileprivate var arePermanent: Bool {
        var node = head
        while let current = node {
            guard current._withUnsafeGuaranteedRef({ $0.membership.isPermanent }) else { return false }
            node = current._withUnsafeGuaranteedRef { $0.next }
        }
        return true
    }
}
