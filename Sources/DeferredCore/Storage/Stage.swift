internal import Synchronization

/// The future that an operator returns: both the storage of its result and the handler that waits for its input.
///
/// ```
///   waiting ──input──▶ applying ──value──▶ filled
///      │                   └───future──▶ adopting ──its value──▶ filled
///      └──abandon──▶ filled
/// ```
///
/// If the transform can be cancelled, the claim of the word decides between applying and `abandon`; otherwise, and
/// afterwards, there is a single writer.
///
/// SAFETY: `transform` and `hasTransform` belong to the winner of `membership`, which passes them on through the list
/// of the adopted future.
@_fixed_layout
@usableFromInline
package final class Stage<T: Transform, E: Executor>: FutureStorage<T.Output>, @unchecked Sendable {
    /// Delivers the input; see `Delivery`.
    @usableFromInline let deliver: Delivery
    @usableFromInline let transform = RawStorage()
    @exclusivity(unchecked)
    @usableFromInline var hasTransform = true
    /// The attachment for the object that is notified of the end.
    @usableFromInline let attachment = Attachment()
    @usableFromInline let executor: E

    @inlinable
    package init(_ executor: E, _ transform: T, upstream: __shared FutureStorage<T.Input>) {
        self.executor = executor
        deliver = { node, upstream, drain in
            unsafeDowncast(node, to: Stage.self).receive(upstream, &drain)
        }
        super.init(T.isCancellable ? .waiting(for: upstream) : .permanent())
        self.transform.put(transform)
    }

    @inlinable
    deinit {
        if hasTransform { transform.drop(T.self) }
        if !word.isFilled, let object = attachment.object { T.lost(object) }
    }

    @usableFromInline
    override func run(_ upstream: FutureNode, _ drain: inout Drain) -> Delivered {
        deliver(self, upstream, &drain)
    }

    /// True while the stage waits for the future that its transform returned.
    ///
    /// In a cancellable stage, another thread may take the transform, so that reading `hasTransform` would be a race;
    /// there, a taken membership means the same.
    @inlinable
    var isAdopting: Bool { T.isCancellable ? membership.isTaken : !hasTransform }

    @inlinable
    func receive(_ upstream: FutureNode, _ drain: inout Drain) -> Delivered {
        if isAdopting {
            return finish(with: unsafeDowncast(upstream, to: FutureStorage<T.Output>.self).value, &drain)
        }
        let input = unsafeDowncast(upstream, to: FutureStorage<T.Input>.self).value
        if E.self == ImmediateExecutor.self {
            return apply(input, &drain)
        }
        if let output = T.shortcut(input) {
            guard membership.take() else { return .done }
            dismiss()
            return begin() ? finish(with: output, &drain) : .done
        }
        if membership.submit() { submit(input) }
        return .done
    }

    @inlinable
    func submit(_ input: T.Input) {
        let turn = Turn(of: self)
        executor.submit {
            guard let stage = turn.begin() else { return }
            var drain = Drain()
            drain.complete(
                stage,
                stage._withUnsafeGuaranteedRef { unsafeDowncast($0, to: Stage.self).apply(input, &drain) }
            )
            drain.runNested()
        }
    }

    /// Runs the transform, unless the stage was cancelled.
    @inlinable
    func apply(_ input: T.Input, _ drain: inout Drain) -> Delivered {
        guard membership.take() else { return .done }
        hasTransform = false
        let transform = transform.take(T.self)
        guard begin() else { return .done }
        switch transform.apply(input) {
        case .value(let value):
            return finish(with: value, &drain)
        case .future(let future):
            let inner = (consume future).storage
            if inner === self { return finishCircle(&drain) }
            if inner.word.isFilled { return finish(with: inner.value, &drain) }
            return .waits(consume inner)
        }
    }

    /// Ends a stage that would wait for itself, or orphans it.
    @usableFromInline
    func finishCircle(_ drain: inout Drain) -> Delivered {
        if let output = T.circular() { return finish(with: output, &drain) }
        assertionFailure(
            "the closure of flatMap returned the future that flatMap itself created, which would wait for itself"
        )
        dropHandlers()
        return .done
    }

    /// Wins the right to fill, if there may be competing writers.
    @inlinable
    func begin() -> Bool {
        T.isCancellable ? word.claim() : true
    }

    @usableFromInline
    override func dismiss() {
        hasTransform = false
        transform.drop(T.self)
    }

    @usableFromInline
    override var isForwarding: Bool {
        guard isAdopting else { return false }
        // A link to a token is added by somebody who has the future, and nobody has it where this matters.
        return !T.isCancellable || attachment.object.map(T.isObserved) != true
    }

    @usableFromInline
    override func goUnfilled() {
        let isAdopting = isAdopting
        if !isAdopting { super.goUnfilled() }
        // A cancellable stage that has not begun can still be cancelled.
        if isAdopting || !T.isCancellable { return dropHandlers() }
        if !T.endsWhenCancelled { abandonIfCancelled() }
    }

    /// Ends a stage whose cancellation was waiting for its input, which is lost now.
    ///
    /// Thread A cancels, while B loses the input. Each notes that before it looks for what the other has noted, so that at
    /// least one of them sees both.
    private func abandonIfCancelled() {
        atomicMemoryFence(ordering: .sequentiallyConsistent)
        if attachment.isCancelled || attachment.object.map(T.isCancelled) == true { abandon() }
    }

    @usableFromInline
    package override var attachmentAddress: UnsafePointer<Attachment>? { attachment.address }

    @usableFromInline
    package override var producer: Any? { T.isCancellable ? attachment.object : nil }

    /// Fills the future, and notifies the attached object.
    @inlinable
    func finish(with output: consuming T.Output, _ drain: inout Drain) -> Delivered {
        let hasFailed = T.isCancellable && T.isFailure(output)
        let isTrivial = T.isTrivial(output)
        let isQueued = fulfil(with: output, isTrivial: isTrivial, &drain)
        if T.isCancellable, let object = attachment.end(hasFailed: hasFailed) { T.ended(object) }
        return isQueued ? .queued : .done
    }

    /// Ends the stage with `T.cancelled()`, unless the closure has begun, or is to run in spite of a cancellation.
    /// After that, the closure never runs, and its captures are freed.
    @usableFromInline
    package override func abandon() {
        guard T.isCancellable else { return }
        if !T.endsWhenCancelled {
            // See `abandonIfCancelled()`.
            atomicMemoryFence(ordering: .sequentiallyConsistent)
            guard membership.isDropped else { return }
        }
        if word.claim() { abandon(with: T.cancelled()) }
    }

    package override func abandon(with output: consuming T.Output) {
        let wasListed = takeBack()
        slot.put(output)
        let handlers = word.publish()
        // Nothing is held from here on, since releasing the captures may run any code.
        if wasListed != nil { dismiss() }
        if wasListed == true { Unmanaged.passUnretained(self).release() }
        if let object = attachment.end(hasFailed: true) { T.ended(object) }
        // Not by appending this to a drain: it may still be linked in the list of a future that was just filled.
        runHandlers(handlers.reversed())
    }
}

extension FutureStorage {
    /// Makes `stage` wait for this future.
    @inlinable
    package final func start<T: Transform, E: Executor>(_ stage: Stage<T, E>) where T.Input == Value {
        if word.isFilled || !add(stage) { Trampoline.run(HandlerNode.List(head: .passRetained(stage)), of: self) }
    }

    /// Creates a stage that waits for this future.
    @inlinable
    package final func derive<T: Transform, E: Executor>(_ executor: E, _ transform: T) -> Stage<T, E>
    where T.Input == Value {
        let stage = Stage(executor, transform, upstream: self)
        start(stage)
        return stage
    }
}

/// A submission of a stage to an executor.
///
/// It begins once, even if the executor runs the closure that holds this several times. If the executor drops the
/// closure instead, the stage is never filled.
@usableFromInline
final class Turn: Sendable {
    /// The address of the stage, with a reference to it; 0 after `begin`.
    private let stage: Atomic<UInt>

    @usableFromInline
    init(of stage: HandlerNode) {
        self.stage = Atomic(UInt(bitPattern: Unmanaged.passRetained(stage).toOpaque()))
    }

    /// Returns the stage, with the reference, to the first caller, and `nil` to all others.
    @usableFromInline
    func begin() -> Unmanaged<HandlerNode>? {
        // Relaxed: the executor already orders the submission, and so the stage's memory, before this.
        UnsafeRawPointer(bitPattern: stage.exchange(0, ordering: .relaxed)).map(Unmanaged.fromOpaque)
    }

    deinit {
        guard let stage = begin()?.takeRetainedValue() else { return }
        if stage.membership.drop() { stage.goUnfilled() }
    }
}
