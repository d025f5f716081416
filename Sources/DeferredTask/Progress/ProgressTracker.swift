internal import DeferredCore
internal import Synchronization

/// Follows the tree of tasks behind a task's progress, for one reader.
///
/// It keeps the task's control, so that what it follows stays there.
///
/// SAFETY: `highest` belongs to the thread that updates.
final class ProgressTracker: @unchecked Sendable {
    private struct Part: Sendable {
        /// Kept, for its address is what it is known by.
        let control: TaskControl
        var watches: [Watchers.Watch] = []

        func stop() {
            for watch in watches { watch.cancel() }
        }
    }

    let control: TaskControl?
    /// How often somebody asked for an update since the last one began.
    private let requests = Atomic(0)
    /// Whether tasks may have started or ended that are not known here.
    private let isOutdated = Atomic(true)
    private let hasSucceeded = Atomic(false)
    private let parts = Lock<[ObjectIdentifier: Part]>([:])
    @exclusivity(unchecked)
    private var highest = 0.0

    init(_ control: TaskControl?) {
        self.control = control
    }

    deinit { stop() }

    /// Notes the end of the task. An update has to follow.
    func end(hasSucceeded: Bool) {
        // Pairs with the load in `fraction(of:)`.
        if hasSucceeded { self.hasSucceeded.store(true, ordering: .releasing) }
    }

    /// Reads the tree, and hands on what it tells, on one thread at a time.
    ///
    /// - Parameters:
    ///   - onChange: Called after each change of what was read, from any thread. It has to call this again.
    ///   - write: Given the fraction, which never goes back and is 1 only after a success, and what it was made of.
    func update(onChange: @escaping @Sendable () -> Void, _ write: (_ fraction: Double, _ share: Share) -> Void) {
        // Whoever comes while another thread writes leaves the work to it. The order acquires what that one has written
        // to `highest`, and releases to it what made this update necessary.
        guard requests.wrappingAdd(1, ordering: .acquiringAndReleasing).oldValue == 0 else { return }
        var served = 0
        repeat {
            served = requests.load(ordering: .acquiring)
            // Pairs with the store of the watches.
            if isOutdated.exchange(false, ordering: .acquiringAndReleasing) { watchParts(onChange) }
            let share = control?.share ?? Share()
            highest = max(highest, fraction(of: share))
            write(highest, share)
        } while requests.wrappingSubtract(served, ordering: .acquiringAndReleasing).newValue > 0
    }

    private func fraction(of share: Share) -> Double {
        hasSucceeded.load(ordering: .acquiring) ? 1 : min(share.fraction, (1.0).nextDown)
    }

    /// Watches the parts that have come since the last time, and lets go of those that are no more.
    private func watchParts(_ onChange: @escaping @Sendable () -> Void) {
        let old = parts.withLock { $0 }
        var new: [ObjectIdentifier: Part] = [:]
        for control in control?.parts ?? [] {
            let key = ObjectIdentifier(control)
            new[key] = old[key] ?? watch(control, onChange)
        }
        parts.withLock { [new] in $0 = new }
        for (key, part) in old where new[key] == nil { part.stop() }
    }

    private func watch(_ control: TaskControl, _ onChange: @escaping @Sendable () -> Void) -> Part {
        let onNewShape: @Sendable () -> Void = { [weak self] in
            self?.isOutdated.store(true, ordering: .releasing)
            onChange()
        }
        var part = Part(control: control)
        if let watch = control.state.watch(onNewShape) { part.watches.append(watch) }
        switch control.work {
        case .opaque, .shared: break
        case .reporting(let source): part.watches.append(source.watch(onChange))
        case .children(let children): part.watches.append(children.watch(onNewShape))
        }
        return part
    }

    /// Takes back what it watches with.
    func stop() {
        let parts = parts.withLock { parts in
            defer { parts = [:] }
            return parts
        }
        for part in parts.values { part.stop() }
    }
}
