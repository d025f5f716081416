internal import DeferredCore
internal import Synchronization

/// Follows the tree of tasks behind a task's progress, for one reader.
///
/// It keeps the control of that task, and of the others no more than their states, so that those who leave the tree are
/// freed.
final class ProgressTracker: Sendable {
    /// A task that has not ended.
    private struct Part: Sendable {
        /// Kept, for its address is what the part is known by.
        let state: TaskState
        let watches: [Watchers.Watch]

        func stop() {
            for watch in watches { watch.cancel() }
        }
    }

    let control: TaskControl?
    private let onChange: @Sendable () -> Void
    /// Whether children may have started or ended that are not known here.
    private let isOutdated = Atomic(true)
    /// `nil` once stopped.
    private let parts = Lock<[ObjectIdentifier: Part]?>([:])

    /// - Parameter onChange: Called after each change of what `read` told, from any thread.
    init(_ control: TaskControl?, onChange: @escaping @Sendable () -> Void) {
        self.control = control
        self.onChange = onChange
    }

    deinit { stop() }

    /// What the tree tells: the fraction, which is 1 only after a success, and what it is made of.
    ///
    /// The fraction is never less than what any reader of the task was told before. For one thread at a time.
    func read(hasSucceeded: Bool) -> (fraction: Double, share: Share) {
        // First the watches, so that no change falls between. Acquires the tasks from `watch`.
        if isOutdated.exchange(false, ordering: .acquiring) { watchParts() }
        guard let control else { return (hasSucceeded ? 1 : 0, Share()) }
        let share = control.share
        // Asked after the share, in which what has ended is done: one that has failed stays where it was.
        let hasFailed = !hasSucceeded && control.isEnded
        let fraction = hasSucceeded ? 1 : hasFailed ? 0 : min(share.fraction, (1.0).nextDown)
        return (control.state.raise(to: fraction), share)
    }

    /// Takes back what it watches with.
    func stop() {
        let parts = parts.withLock { $0.take() }
        for part in (parts ?? [:]).values { part.stop() }
    }

    /// Watches the parts that have come since the last time, and lets go of those that are no more.
    private func watchParts() {
        guard let old = parts.withLock({ $0 }) else { return }
        var new: [ObjectIdentifier: Part] = [:]
        for control in control?.parts ?? [] where !control.isEnded {
            let key = ObjectIdentifier(control.state)
            new[key] = old[key] ?? watch(control)
        }
        let isStopped = parts.withLock { [new] parts in
            if parts != nil { parts = new }
            return parts == nil
        }
        for (key, part) in old where new[key] == nil { part.stop() }
        if isStopped { for part in new.values { part.stop() } }
    }

    private func watch(_ control: TaskControl) -> Part {
        let onNewShape: @Sendable () -> Void = { [weak self, onChange] in
            // Releases what has changed to `read`.
            self?.isOutdated.store(true, ordering: .releasing)
            onChange()
        }
        let state = control.state
        var watches: [Watchers.Watch] = []
        // An end changes what is to be watched of others only where there are children, which go with it.
        var hasChildren = false
        switch control.work {
        case .opaque, .running, .shared: break
        case .reporting(let source): watches.append(source.watch(onChange))
        case .children(let children):
            hasChildren = true
            watches.append(children.watch(onNewShape))
        }
        let key = ObjectIdentifier(state)
        let onEnd: @Sendable () -> Void = { [weak self, onChange, hasChildren] in
            self?.ended(key, hasChildren: hasChildren)
            onChange()
        }
        if let watch = state.watch(onEnd) { watches.append(watch) } else { isOutdated.store(true, ordering: .relaxed) }
        return Part(state: state, watches: watches)
    }

    /// Lets go of a part that has ended.
    private func ended(_ key: ObjectIdentifier, hasChildren: Bool) {
        let part = parts.withLock { $0?.removeValue(forKey: key) }
        part?.stop()
        // One that is not known yet is just being watched, and has to be looked at again. Releases to `read`.
        if hasChildren || part == nil { isOutdated.store(true, ordering: .releasing) }
    }
}
