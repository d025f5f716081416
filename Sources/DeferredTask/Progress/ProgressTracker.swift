internal import DeferredCore
internal import Synchronization

/// Follows the tree of tasks behind a task's progress, for one reader.
///
/// It keeps the task's control, so that what it follows stays there.
final class ProgressTracker: Sendable {
    private struct Part: Sendable {
        /// Kept, for its address is what it is known by.
        let control: TaskControl
        var watches: [Watchers.Watch] = []

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
    /// The bits of the highest fraction so far, which are in the order of the fractions.
    private let highest = Atomic(UInt64(0))

    /// - Parameter onChange: Called after each change of what `read` told, from any thread.
    init(_ control: TaskControl?, onChange: @escaping @Sendable () -> Void) {
        self.control = control
        self.onChange = onChange
    }

    deinit { stop() }

    /// What the tree tells: the fraction, which never goes back and is 1 only after a success, and what it is made of.
    ///
    /// For one thread at a time.
    func read(hasSucceeded: Bool) -> (fraction: Double, share: Share) {
        // First the watches, so that no change falls between. Acquires the tasks from `watch`.
        if isOutdated.exchange(false, ordering: .acquiring) { watchParts() }
        let share = control?.share ?? Share()
        // Asked after the share, in which what has ended is done: one that has failed stays where it was.
        let hasFailed = !hasSucceeded && control?.isEnded != false
        let fraction = hasSucceeded ? 1 : hasFailed ? 0 : min(share.fraction, (1.0).nextDown)
        return (Double(bitPattern: highest.max(fraction.bitPattern, ordering: .relaxed).newValue), share)
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
        for control in control?.parts ?? [] {
            let key = ObjectIdentifier(control)
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
        var part = Part(control: control)
        // An end changes what is to be watched only where there are children, which go with it.
        var onEnd = onChange
        switch control.work {
        case .opaque, .running, .shared: break
        case .reporting(let source): part.watches.append(source.watch(onChange))
        case .children(let children):
            part.watches.append(children.watch(onNewShape))
            onEnd = onNewShape
        }
        if let watch = control.state.watch(onEnd) { part.watches.append(watch) }
        return part
    }
}
