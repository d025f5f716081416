internal import DeferredCore
internal import Synchronization

/// Follows the tree of tasks behind a task's progress, for one reader.
///
/// The tasks that it follows keep it until it is stopped. It keeps their states, but not the tasks, so that tasks that
/// leave the tree are freed.
final class ProgressTracker: Sendable {
    /// A task that has not ended.
    private struct Part: Sendable {
        /// Kept, because its address is the key of the part.
        let state: TaskState
        /// The watch on changes other than the end.
        let watch: Watchers.Watch?
        /// True if the task has children, which leave the tree with it.
        let hasChildren: Bool
    }

    private let onChange: @Sendable () -> Void
    /// True if children may have started or ended that are not known here.
    private let isOutdated = Atomic(true)
    /// `nil` once stopped.
    private let parts = Lock<[ObjectIdentifier: Part]?>([:])

    /// - Parameter onChange: Called after each change of the result of `read`, from any thread.
    init(onChange: @escaping @Sendable () -> Void) {
        self.onChange = onChange
    }

    /// Returns the fraction, which is 1 only after a success, and the share of the tree that it is computed from.
    ///
    /// The fraction is never less than one that any reader of the task was given before. Only one thread may read at a
    /// time.
    ///
    /// - Parameter control: Always the same; `nil` for a task that was created with its result.
    func read(_ control: TaskControl?, hasSucceeded: Bool) -> (fraction: Double, share: Share) {
        guard let control else { return (hasSucceeded ? 1 : 0, Share()) }
        // Watches first, so that no change is lost in between. Acquires the tasks from `watch`.
        if isOutdated.exchange(false, ordering: .acquiring) { watchParts(of: control) }
        let share = control.share
        // Read after the share, in which ended tasks count as done: a failed task keeps its last fraction.
        let hasFailed = !hasSucceeded && control.isEnded
        let fraction = hasSucceeded ? 1 : hasFailed ? 0 : min(share.fraction, (1.0).nextDown)
        return (control.state.raise(to: fraction), share)
    }

    /// Stops watching.
    func stop() {
        let parts = parts.withLock { $0.take() }
        for part in (parts ?? [:]).values { stopWatching(part) }
    }

    /// Watches the parts that are new since the last time, and releases those that have left.
    private func watchParts(of control: TaskControl) {
        guard let old = parts.withLock({ $0 }) else { return }
        let controls = control.parts
        var new = [ObjectIdentifier: Part](minimumCapacity: controls.count)
        for control in controls where !control.isEnded {
            let state = control.state
            let key = ObjectIdentifier(state)
            new[key] = old[key] ?? watch(control, state)
        }
        let isStopped = parts.withLock { [new] parts in
            if parts != nil { parts = new }
            return parts == nil
        }
        for (key, part) in old where new[key] == nil { stopWatching(part) }
        if isStopped { for part in new.values { stopWatching(part) } }
    }

    private func watch(_ control: TaskControl, _ state: TaskState) -> Part {
        var watch: Watchers.Watch?
        var hasChildren = false
        switch control.work {
        case .opaque, .running, .shared, .passing: break
        case .reporting(let source): watch = source.watch(onChange)
        case .children(let children):
            hasChildren = true
            watch = children.watch { [weak self, onChange] in
                // Releases the changes to `read`.
                self?.isOutdated.store(true, ordering: .releasing)
                onChange()
            }
        }
        if !state.watch(self) { isOutdated.store(true, ordering: .relaxed) }
        return Part(state: state, watch: watch, hasChildren: hasChildren)
    }

    private func stopWatching(_ part: Part) {
        part.state.stopWatching(self)
        part.watch?.cancel()
    }

    /// Releases a part that has ended.
    func ended(_ state: TaskState) {
        let part = parts.withLock { $0?.removeValue(forKey: ObjectIdentifier(state)) }
        part?.watch?.cancel()
        // An end changes the set of parts to watch only if the part has children. A part that is not known yet is just
        // being added, and has to be looked at again. Releases to `read`.
        if part?.hasChildren ?? true { isOutdated.store(true, ordering: .releasing) }
        onChange()
    }
}
