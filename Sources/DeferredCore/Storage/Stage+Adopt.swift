extension Stage {
    /// Takes over the value of `inner`, now or when it comes; true if the caller's reference went along.
    @inlinable
    func adopt(_ inner: FutureStorage<T.Output>, _ drain: inout Drain) -> Bool {
        if inner.word.isFilled { return fulfil(with: inner.value, &drain) }
        if moveHandlers(to: inner, &drain) { return false }
        isAdopting = true
        if inner.word.push(Unmanaged.passUnretained(self)) { return true }
        return fulfil(with: inner.value, &drain)
    }
}

extension FutureStorage {
    /// Lets the handlers wait for `inner` itself, when nobody can reach this future but through them.
    ///
    /// This is what lets a recursive `flatMap` run for ever in constant memory: of the chain of futures that wait for
    /// one another, only the two ends are left.
    @usableFromInline
    final func moveHandlers(to inner: FutureStorage<Value>, _ drain: inout Drain) -> Bool {
        guard isUniquelyReferenced else { return false }
        let handlers = word.publish()
        guard handlers.arePermanent else {
            // A registration knows this future as its handler's owner.
            word.reopen(with: handlers)
            return false
        }
        var list = handlers.reversed()
        while let handler = list.pop() {
            if inner.word.push(handler) { continue }
            drain.run(FutureNode.List(head: handler).alone, of: inner)
        }
        return true
    }
}

extension FutureNode {
    /// Whether the caller's is the only reference.
    fileprivate final var isUniquelyReferenced: Bool {
        var reference = Unmanaged.passUnretained(self)
        return withUnsafeMutablePointer(to: &reference) {
            // The same bits seen as a strong reference, without the retain that would falsify the answer.
            $0.withMemoryRebound(to: FutureNode.self, capacity: 1) { isKnownUniquelyReferenced(&$0.pointee) }
        }
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

    /// The first node only.
    fileprivate var alone: Self {
        head?._withUnsafeGuaranteedRef { $0.next = nil }
        return self
    }
}
