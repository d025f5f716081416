public import DeferredCore

/// The consumer's side of a task: what `cancel()` and `progress` act on.
///
/// Most tasks of a chain have none: a *plain* stage, such as a `map`, is a future and nothing else, and its `Task` keeps
/// the nearest control upstream, with the number of plain stages since. A control is made
///
/// - with a task that has a producer, children, a time-out, or consumers that are counted: its *own* control;
/// - for a plain stage as soon as somebody asks for what only a control has, such as its cancellation or its progress:
///   a *late* one. It is found by asking the stage which future it waits for, and that one, and so on.
///
/// References run from consumers to producers only: a control keeps the control of the task it was derived from, and a
/// future keeps no control. Nor does a control keep its future, because handlers on the future may keep the control. So
/// a cancellation handler may refer to the future that it fills without making a cycle: when nobody is left who could
/// cancel, the control is released, and the handlers with it; and when nobody is left who could fill, the future is
/// released.
///
/// A plain stage may get several late controls. They share the state that is attached to the stage, which is kept until
/// the stage ends, or until nobody is left who holds a task of its chain, and with it the control upstream.
///
/// SAFETY: `unmanagedUpstream` changes only while deinitialising; everything else is immutable or atomic.
@usableFromInline
package final class TaskControl: @unchecked Sendable {
    /// Owns a reference.
    @exclusivity(unchecked)
    private(set) var unmanagedUpstream: Unmanaged<TaskControl>?
    @usableFromInline let work: TaskWork
    let future: UnownedFuture
    /// The number of plain stages between `upstream` and this.
    let plainCount: UInt32
    /// True if the future is an operator's result, which ends at once on a cancellation if its closure has not begun.
    private let isStage: Bool
    /// True if this was made for a plain stage, when it was needed.
    private let isLate: Bool
    /// True if this is one consumer of a shared task.
    @usableFromInline let isShared: Bool
    /// True if this is one of the consumers that share `upstream`.
    private let isConsumer: Bool
    /// True if this is a Swift task, or may have started some.
    let mayRunInSwift: Bool
    /// Tells of the end if the future has no room for an attachment; taken back when nobody is left who could cancel.
    private let notice: Registration?
    /// The state shared with the future; most tasks never need it.
    private let shared = Attachment()
    /// The late control of the plain stage that this one waits for, once it was needed.
    private let input = Attachment()

    /// - Parameters:
    ///   - words: The words of `future`.
    ///   - isStage: Whether the future is an operator's result.
    ///   - notice: Keeps the attachment among the words, unless the future does.
    ///   - upstream: The task that this is derived from; `nil` for one that was created with its result.
    ///   - plainCount: The number of plain stages between `upstream` and this.
    ///   - onCancel: Asks the producer to stop.
    @usableFromInline
    init(
        _ future: __shared FutureNode,
        _ words: UnownedFuture.Words,
        _ work: consuming TaskWork,
        isStage: Bool = false,
        notice: consuming EndNotice? = nil,
        upstream: __shared TaskControl? = nil,
        plainCount: UInt32 = 0,
        onCancel: (@Sendable () -> Void)? = nil
    ) {
        isShared = work.isShared
        var isConsumer = isShared
        if let upstream {
            unmanagedUpstream = .passRetained(upstream)
            if upstream.isShared { isConsumer = true }
        }
        self.isConsumer = isConsumer
        // Handlers and children have to be known to the future before its end.
        let needsState = onCancel != nil || work.hasChildren
        mayRunInSwift = work.mayRunInSwift
        self.work = work
        self.future = UnownedFuture(future, words)
        self.plainCount = plainCount
        self.isStage = isStage
        isLate = false
        self.notice = if let notice = consume notice { Registration(notice) } else { nil }
        if needsState { _ = makeState(onCancel) }
        if isConsumer { self.upstream?.state.addConsumer(self, self.future) }
    }

    /// Creates the control of a task whose producer can't be asked to stop, and reports no progress.
    @usableFromInline
    init(producing future: __shared FutureNode, _ words: UnownedFuture.Words, notice: consuming EndNotice? = nil) {
        work = .opaque
        self.future = UnownedFuture(future, words)
        plainCount = 0
        (isStage, isLate, isShared, isConsumer, mayRunInSwift) = (false, false, false, false, false)
        self.notice = if let notice = consume notice { Registration(notice) } else { nil }
    }

    /// Creates a late control.
    ///
    /// - Parameters:
    ///   - stage: A plain stage.
    ///   - upstream: The nearest task that has a control of its own.
    ///   - plainCount: The number of plain stages between `upstream` and `stage`.
    ///   - state: The state of the stage, if the caller knows it.
    init(late stage: UnownedFuture, upstream: TaskControl, plainCount: UInt32, state: TaskState? = nil) {
        unmanagedUpstream = .passRetained(upstream)
        work = .opaque
        future = stage
        self.plainCount = plainCount
        (isStage, isLate, isShared, isConsumer, mayRunInSwift) = (true, true, false, false, false)
        notice = nil
        if let state { _ = shared.attach(state) }
    }

    deinit {
        if let notice, !future.isFinished { notice.cancel() }
        if !isLate, let state = existingState {
            state.letGo()
            state.letGoOfPlainStages()
        }
        if isConsumer, let upstream, upstream.state.dropConsumer(self) { upstream.cancel() }
        // Released in loops, since the recursion of a chain of a million tasks would overflow the stack. Late controls
        // first: each keeps `upstream`, too, which the last of them would otherwise free within its own deinitialiser.
        var late = plainCount > 0 ? input.detach() : nil
        while let object = late {
            let control = Unmanaged<TaskControl>.fromOpaque(object.toOpaque())
            late = control.isSole ? control._withUnsafeGuaranteedRef { $0.input.detach() } : nil
            control.release()
        }
        var next = unmanagedUpstream
        while let control = next {
            next = control.isSole ? control._withUnsafeGuaranteedRef { $0.unmanagedUpstream.take() } : nil
            control.release()
        }
    }

    /// The nearest task upstream that has a control of its own; for a consumer, the task that it shares.
    var upstream: TaskControl? { unmanagedUpstream?.takeUnretainedValue() }

    /// The previous task of the chain that has not ended; if there is none, `upstream`. Kept by this control.
    ///
    /// - Complexity: O(1), without locks; the first time, with an allocation.
    var previous: TaskControl? { plainCount == 0 ? upstream : knownInput ?? makeInput().control ?? upstream }

    /// The number of plain stages before this one if they have ended; `nil` if there are none, or they have controls.
    var endedCount: UInt32? { plainCount == 0 || previous !== upstream ? nil : plainCount }

    private var knownInput: TaskControl? { input.object.map { unsafeDowncast($0, to: TaskControl.self) } }

    /// Makes the late control of the plain stage that this one waits for.
    ///
    /// - Returns: Neither the control, if the stage has ended, nor true, unless it is lost.
    private func makeInput() -> (control: TaskControl?, isLost: Bool) {
        guard let upstream else { return (nil, false) }
        switch future.input {
        case .ended: return (nil, false)
        case .lost: return (nil, true)
        case .waiting(let stage):
            let control = TaskControl(late: UnownedFuture(stage: stage), upstream: upstream, plainCount: plainCount - 1)
            return (input.attach(control) ? control : knownInput, false)
        }
    }

    /// The state shared with the future, or `nil` if it was not needed yet.
    private var existingState: TaskState? {
        if let object = shared.object { return unsafeDowncast(object, to: TaskState.self) }
        return isLate ? findState() : nil
    }

    /// The state shared with the future, created on first use.
    @usableFromInline
    package var state: TaskState { existingState ?? makeState() }

    private func makeState(_ handler: (@Sendable () -> Void)? = nil) -> TaskState {
        let state = TaskState(work, handler: handler)
        if isLate { return share(state) }
        // Attached here first: the future, which may be gone, can't be relied on to pass it to other threads.
        guard shared.attach(state) else { return self.state }
        // A future that is gone has ended, or never will.
        if !future.attach(state), future.isFinished { state.end() }
        return state
    }

    /// As a late control: shares `new` with the stage and all its late controls, unless they have a state.
    private func share(_ new: TaskState) -> TaskState {
        let isFirst = future.withAttachment { attachment in
            guard attachment.attach(new, afterCancelling: { _ = new.cancel() }) else { return false }
            upstream?.state.keep(PlainStage(state: new, future: future, plainCount: plainCount))
            return true
        }
        if isFirst != true, let state = findState() { return state }
        // A stage that is gone has ended, or never will.
        if isFirst != true, future.isFinished { new.end() }
        return shared.attach(new) ? new : state
    }

    /// As a late control: the state that another one has shared with the stage.
    private func findState() -> TaskState? {
        let object = future.withAttachment { $0.object } ?? upstream?.existingState?.plainStage(future)
        guard let state = object.map({ unsafeDowncast($0, to: TaskState.self) }) else { return nil }
        _ = shared.attach(state)
        return state
    }

    /// The tasks that this one has started, or was combined from.
    var children: ChildTasks? {
        if case .children(let children) = work { children } else { nil }
    }

    /// True if the task was asked to stop before its end. A Swift task can also be asked by its own code.
    var isCancelled: Bool {
        if isLate, future.isCancelled { return true }
        if let existingState, existingState.isCancelled { return true }
        return if case .running(let task) = work { task.isCancelled } else { false }
    }

    /// True if the task of a plain stage was asked to stop before its end. Makes no control.
    static func isCancelled(_ stage: FutureNode) -> Bool {
        guard let words = stage.stageWords else { return false }
        if words.attachment.pointee.isCancelled { return true }
        return words.attachment.pointee.object.map { unsafeDowncast($0, to: TaskState.self).isCancelled } ?? false
    }

    /// True if nothing is registered with the cancellation of the task.
    var isUnobserved: Bool { existingState?.isUnobserved ?? true }

    /// True if the task has ended.
    var isEnded: Bool {
        future.isFinished || existingState?.isEnded ?? false
    }

    /// True if the task has ended other than by a failure.
    var isDone: Bool { future.hasSucceeded }

    /// Returns a token that is cancelled with the task, until its end.
    func token() -> CancellationToken {
        future.isFinished ? .none : state.token()
    }

    /// Asks this task to stop, then those it has started, and then those it was derived from.
    package func cancel() {
        guard let cancellation = beginCancelling() else { return }
        func stop() { self.stop(cancellation) }
        if Trampoline.nest(stop) == nil { Trampoline.putOff(stop) }
    }

    /// Notes the request to stop. Returns the handlers to call, the first time before the end.
    private func beginCancelling() -> TaskState.Cancellation? {
        if future.isFinished { return nil }
        // A plain stage without a state needs none for this.
        if isLate, shared.object == nil, let noted = future.withAttachment({ $0.cancel() }), let noted {
            return noted ? TaskState.Cancellation() : nil
        }
        return state.cancel()
    }

    /// Asks those that this task was derived from to stop, but not this one.
    func cancelUpstream() {
        let previous = plainCount > 0 ? previousToCancel() : nil
        (previous ?? upstreamToCancel())?.cancel()
    }

    private func stop(_ first: TaskState.Cancellation) {
        var (current, cancellation) = (self, first)
        var pending: [TaskControl] = []
        // In a loop, since chains may be long and children nested deeply.
        while true {
            // Before the stage is abandoned, and leaves the list of the future that it waits for.
            let previous = current.plainCount > 0 ? current.previousToCancel() : nil
            // The stage first, so that it fails with its own cancellation and not with its upstream's reaction to the
            // request.
            if current.isStage { current.future.abandon() }
            cancellation.callHandlers()
            current.existingState?.progress?.update()
            let children = current.work.cancel()
            if let next = previous ?? current.upstreamToCancel() { pending.append(next) }
            if !children.isEmpty { pending += children.reversed() }
            repeat {
                guard let next = pending.popLast() else { return }
                guard let more = next.beginCancelling() else { continue }
                (current, cancellation) = (next, more)
                break
            } while true
        }
    }

    /// The task that this was derived from, unless other consumers still want its result.
    private func upstreamToCancel() -> TaskControl? {
        guard let upstream else { return nil }
        guard isConsumer else { return upstream }
        return upstream.state.cancelConsumer(self) ? upstream : nil
    }

    /// The task to cancel with this one, where there are plain stages in between.
    private func previousToCancel() -> TaskControl? {
        if let control = knownInput { return control }
        let (control, isLost) = makeInput()
        return isLost ? lostInput() : control ?? upstream
    }

    /// The stages that this one came from, or else `upstream`.
    ///
    /// A stage that is lost never ends, so that its handlers still have to be called. It no longer tells which stages it
    /// came from, but they are lost, too, and some of those that `upstream` knows.
    private func lostInput() -> TaskControl? {
        guard let upstream, let lost = upstream.existingState?.lostStages(within: plainCount) else { return upstream }
        var previous: TaskControl?
        for stage in lost {
            // With a number that says whether there are others before, so that it need not look for them.
            let control = TaskControl(
                late: stage.future,
                upstream: upstream,
                plainCount: previous == nil ? 0 : 1,
                state: stage.state
            )
            if let previous { _ = control.input.attach(previous) }
            previous = control
        }
        return previous ?? upstream
    }

    /// Lets `token` cancel this task, until it ends or nobody is left who could cancel it.
    func cancel(when token: CancellationToken) {
        if isLate, let upstream { return cancel(when: token, late: upstream) }
        let control = UnownedReference(self)
        state.takeBackAtEnd(token.register { control.strong?.cancel() })
    }

    /// As a late control: is gone by then, and so is replaced by another one, without keeping the chain.
    private func cancel(when token: CancellationToken, late upstream: TaskControl) {
        let control = UnownedReference(upstream)
        let registration = token.register { [future, plainCount] in
            guard let upstream = control.strong else { return }
            TaskControl(late: future, upstream: upstream, plainCount: plainCount).cancel()
        }
        state.takeBackAtEnd(registration)
    }
}

/// A plain stage whose state is kept by the nearest control upstream.
struct PlainStage: Sendable {
    let state: TaskState
    let future: UnownedFuture
    /// The number of plain stages between the control and this one.
    let plainCount: UInt32
}
