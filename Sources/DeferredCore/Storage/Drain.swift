/// A queue of filled futures whose handlers are to run.
///
/// Running a handler may fill other futures, which are appended instead of handled recursively: a chain of a million
/// `map`s takes no more stack than one. Handlers of a future run before those of the futures derived from it.
@frozen
@usableFromInline
struct Drain {
    /// The first of the filled futures, linked by `next`; each keeps its handlers in `previous`. Both links are free,
    /// since a future in a drain has left the list it was in.
    @usableFromInline var first: Unmanaged<HandlerNode>?
    @usableFromInline var last: Unmanaged<HandlerNode>?

    @inlinable
    init() {}

    /// Takes over a reference to `future` and its handlers, oldest first.
    @inlinable
    mutating func append(_ future: Unmanaged<HandlerNode>, _ handlers: HandlerNode.List) {
        future._withUnsafeGuaranteedRef {
            $0.previous = handlers.head
            $0.next = nil
        }
        if let last { last._withUnsafeGuaranteedRef { $0.next = future } } else { first = future }
        last = future
    }

    /// Acts on the outcome of a handler that was run, and takes over the caller's reference to the handler.
    @inlinable
    mutating func complete(_ handler: Unmanaged<HandlerNode>, _ delivered: HandlerNode.Delivered) {
        switch delivered {
        case .done: handler.release()
        case .queued: break
        case .waits(let inner): wait(handler, for: inner)
        }
    }

    /// Makes `stage`, which only forwards from now on, wait for `inner`.
    ///
    /// If nothing else references the stage, its handlers wait for `inner` in its place, and it is freed. So of a recursive
    /// `flatMap`, whose futures wait for one another, only the two ends remain.
    @usableFromInline
    mutating func wait(_ stage: Unmanaged<HandlerNode>, for inner: FutureNode) {
        // Oldest first: those to look at.
        var handlers = HandlerNode.List()
        handlers.prepend(stage)
        // Newest first, the order in the list of `inner`; `oldest` is set with the first of them.
        var (waiting, oldest) = (HandlerNode.List(), stage)
        while let handler = handlers.pop() {
            if var others = takeHandlers(ofForwarding: handler) {
                others.append(handlers)
                handlers = others
            } else {
                if waiting.isEmpty { oldest = handler }
                waiting.prepend(handler)
            }
        }
        // All at once: if `inner` is filled meanwhile, they run on one thread, in order of registration.
        if let newest = waiting.head, !inner.word.push(newest, from: oldest) { run(waiting.reversed(), of: inner) }
    }

    /// If `stage` only forwards, and only the caller references it: takes its handlers, oldest first, and frees it.
    private func takeHandlers(ofForwarding stage: Unmanaged<HandlerNode>) -> HandlerNode.List? {
        // Checked here, since a call of a method may retain the stage. The cheap check comes first.
        guard stage.isSole, stage._withUnsafeGuaranteedRef({ $0.isForwarding }),
            let handlers = stage._withUnsafeGuaranteedRef({ unsafeDowncast($0, to: FutureNode.self).word.takeMovable() }
            )
        else { return nil }
        stage.release()
        return handlers.reversed()
    }

    /// Runs `handlers`, oldest first, with the value of `future`.
    @inlinable
    mutating func run(_ handlers: HandlerNode.List, of future: FutureNode) {
        var handlers = handlers
        while let handler = handlers.pop() {
            complete(handler, handler._withUnsafeGuaranteedRef { $0.run(future, &self) })
        }
    }

    /// Runs everything that is queued.
    @inlinable
    mutating func run() {
        while let future = first {
            first = future._withUnsafeGuaranteedRef { $0.next }
            if first == nil { last = nil }
            future._withUnsafeGuaranteedRef {
                run(HandlerNode.List(head: $0.previous), of: unsafeDowncast($0, to: FutureNode.self))
            }
            future.release()
        }
    }

    /// Runs `handlers`, oldest first, with the value of `future`, and then the handlers of all futures they fill.
    @inline(__always)
    static func run(_ handlers: HandlerNode.List, of future: FutureNode) {
        var drain = Drain()
        drain.run(handlers, of: future)
        drain.run()
    }

    /// Runs everything that is queued, one level deeper on this thread.
    @usableFromInline
    consuming func runNested() {
        if first == nil { return }
        var drain = self
        func run() { drain.run() }
        if Trampoline.nest(run) == nil { Trampoline.putOff(run) }
    }
}
