internal import DeferredCore

/// The tasks that another one has started, or was combined from: cancelled with it, and counted in its progress.
///
/// A child that starts after its parent was cancelled is cancelled immediately.
@usableFromInline
package final class ChildTasks: Sendable {
    fileprivate struct Child: Sendable {
        var control: TaskControl
        /// The parent's handler on the child's end.
        var registration: Registration?
    }

    private struct State: Sendable {
        var running: [Int: Child] = [:]
        var nextKey = 0
        /// Children that have not started yet, each of which counts 1.
        var expected: Int
        /// The number of `expected` that remain, because there may always be more children.
        let unknown: Int
        /// The shares of the children that were released.
        var ended = Share()
        var isCancelled = false
        var isEnded = false
        /// The priority that children get when they start, if theirs is lower.
        var priority: TaskPriority?
        var place = Place.none
    }

    /// The place of the task that these children belong to, if it is itself a child.
    private enum Place: Sendable {
        case none
        case one(Weak, ObjectIdentifier, key: Int)
        /// The task has several parents.
        case several
    }

    private struct Weak: Sendable {
        weak var parent: ChildTasks?
    }

    private let state: Lock<State>
    private let watchers = Lock<Watchers?>(nil)
    /// True if these are the only child of a stage, whose result ends the stage.
    private let isCollapsible: Bool

    /// - Parameters:
    ///   - expected: The number of children to come.
    ///   - isOpenEnded: Whether there may be more of them.
    ///   - isCollapsible: Whether these are the only child of a stage, whose result ends the stage.
    @usableFromInline
    init(expected: Int, isOpenEnded: Bool = false, isCollapsible: Bool = false) {
        state = Lock(State(expected: expected, unknown: isOpenEnded ? 1 : 0))
        self.isCollapsible = isCollapsible
    }

    deinit {
        var controls = state.withLock { $0.running.take() }.inOrder.map(\.control)
        // Releasing a task can release its children.
        Trampoline.free(&controls)
    }

    /// The running children.
    var running: [TaskControl] { state.withLock { $0.running.values.map(\.control) } }

    /// The share of the children that are not running, expected ones included, and the running children.
    var parts: (share: Share, running: [TaskControl]) {
        var (share, running, expected) = state.withLock { ($0.ended, $0.running.values.map(\.control), $0.expected) }
        if expected > 0 {
            share.addStages(Double(expected), fraction: 0)
            // Their amounts are not known yet.
            share.bytes.total = nil
            share.items.total = nil
        }
        return (share, running)
    }

    /// Returns true if `task` is the one that these children belong to, or derives from it, and so would wait for
    /// itself as a child.
    ///
    /// Looks no further than 64 operators up, so that a child at the end of a long chain costs no more.
    @usableFromInline
    func isCircle<Success>(_ task: Task<Success>) -> Bool {
        var (next, count) = (task.control, task.plainCount)
        while let control = next, count < 64 {
            if control.children === self { return true }
            (next, count) = (control.upstream, count + 1 + control.plainCount)
        }
        return false
    }

    /// Notes a child that has started; `nil` for a child that ended before it could be cancelled.
    ///
    /// - Returns: The key of the child.
    @discardableResult
    @usableFromInline
    func started(_ control: TaskControl?) -> Int {
        let (key, mustCancel, priority) = state.withLock { state in
            state.expected = max(state.expected - 1, state.unknown)
            state.nextKey += 1
            if state.isEnded { return (state.nextKey, true, nil as TaskPriority?) }
            if let control {
                state.running[state.nextKey] = Child(control: control)
            } else {
                state.ended.addStages(1, fraction: 1)
            }
            return (state.nextKey, state.isCancelled, state.priority)
        }
        if mustCancel { control?.cancel() }
        if let priority, #available(macOS 26, iOS 26, tvOS 26, watchOS 26, visionOS 26, *) {
            control?.escalatePriority(to: priority)
        }
        control?.children?.place(in: self, key)
        watchers.withLock { $0 }?.notify()
        return key
    }

    /// Puts the only child of a stage in the stage's place among the children of its parent, if nobody but the parent
    /// keeps the stage.
    ///
    /// Of a recursive `flatMap`, whose turns are children of one another, this leaves only the running turn. Continues
    /// with the parent, which its caller may still have kept at the previous turn.
    @usableFromInline
    func collapse() {
        var current: ChildTasks? = self
        while let children = current { current = children.collapseOnce() }
    }

    /// - Returns: The children that the child now belongs to.
    private func collapseOnce() -> ChildTasks? {
        let (place, running, ended) = state.withLock { state in
            (state.place, state.running.count == 1 ? state.running.first : nil, state.ended)
        }
        guard case .one(let reference, _, let key) = place, let parent = reference.parent,
            let (oldKey, child) = running,
            let stage = parent.unsharedChild(key), stage.isUnobserved
        else { return nil }
        var share = stage.shareBefore
        share.add(ended)
        let (isReplaced, mustCancel) = parent.state.withLock { [share] state in
            guard !state.isEnded, state.running[key]?.control === stage else { return (false, false) }
            state.running[key]?.control = child.control
            state.ended.add(share)
            return (true, state.isCancelled)
        }
        guard isReplaced else { return nil }
        let removed = state.withLock { $0.running.removeValue(forKey: oldKey) }
        withExtendedLifetime(removed) {}
        child.control.children?.place(in: parent, key, insteadOf: self)
        if mustCancel { child.control.cancel() }
        parent.watchers.withLock { $0 }?.notify()
        return parent
    }

    /// Returns a child, if nobody else keeps it.
    private func unsharedChild(_ key: Int) -> TaskControl? {
        state.withLock { state in
            guard let index = state.running.index(forKey: key),
                isKnownUniquelyReferenced(&state.running.values[index].control)
            else { return nil }
            return state.running.values[index].control
        }
    }

    /// Notes the place of the stage that these children belong to among the children of `parent`. Combinations have none,
    /// and so keep theirs.
    private func place(in parent: ChildTasks, _ key: Int, insteadOf old: ChildTasks? = nil) {
        guard isCollapsible else { return }
        let new = Place.one(Weak(parent: parent), ObjectIdentifier(parent), key: key)
        state.withLock { state in
            switch state.place {
            case .none: state.place = new
            case .one(_, let parent, _) where old.map(ObjectIdentifier.init) == parent: state.place = new
            case .one, .several: state.place = .several
            }
        }
    }

    /// Keeps the handler on a child's end, unless the child has ended.
    func wait(for key: Int, with registration: Registration) {
        let isEnded = state.withLock { state in
            state.running[key]?.registration = registration
            return state.isEnded
        }
        if isEnded { registration.cancel() }
    }

    /// Releases a child that has ended.
    func ended(_ key: Int, hasSucceeded: Bool) {
        guard let control = state.withLock({ $0.running[key]?.control }) else { return }
        var share = Share()
        if hasSucceeded || isFollowed {
            share = control.share
        } else {
            // A cancelled child ends before its own children, and may be nested deeply.
            share.addStages(1, fraction: 0)
        }
        let child = state.withLock { [share] state in
            let child = state.running.removeValue(forKey: key)
            if child != nil { state.ended.add(share, isDone: hasSucceeded) }
            return child
        }
        // Released outside of the lock.
        withExtendedLifetime(child) {}
    }

    /// True while somebody follows the progress.
    private var isFollowed: Bool { watchers.withLock { $0 }?.isEmpty == false }

    /// Calls `body` when a child has started.
    func watch(_ body: @escaping @Sendable () -> Void) -> Watchers.Watch {
        let watchers = watchers.withLock { watchers in
            let result = watchers ?? Watchers()
            watchers = result
            return result
        }
        return watchers.add(body)
    }

    /// Marks children to come to be cancelled when they start.
    ///
    /// - Returns: The running children, to be cancelled.
    func cancel() -> [TaskControl] {
        state.withLock { state in
            state.isCancelled = true
            return state.running.inOrder.map(\.control)
        }
    }

    /// Gives children to come at least this priority.
    ///
    /// - Returns: The running children, to be given it, too; none if they have it.
    func raisePriority(to priority: TaskPriority) -> [TaskControl] {
        state.withLock { state in
            // Those who have it have passed it on. So it goes no further where tasks wait for each other in a circle.
            if let old = state.priority, old >= priority { return [] }
            state.priority = priority
            return state.running.values.map(\.control)
        }
    }

    /// Releases the children: their parent has ended.
    ///
    /// - Parameter cancelling: Whether to take back the handlers on the children, and to cancel the children.
    func end(cancelling: Bool = false) {
        // If somebody follows the progress, the children's reports stay in it. Otherwise they are not read, which takes
        // as long as children are nested deeply.
        let shares = isFollowed ? state.withLock { $0.running }.mapValues(\.control.share) : [:]
        let running = state.withLock { state in
            state.isEnded = true
            // In the same step as the removal, so that no reader misses both.
            for (key, share) in shares where state.running[key] != nil { state.ended.add(share) }
            return state.running.take()
        }
        guard cancelling else { return }
        for child in running.inOrder {
            child.registration?.cancel()
            child.control.cancel()
        }
    }
}

extension [Int: ChildTasks.Child] {
    /// The children in the order in which they were started, so that they are always cancelled in the same order.
    fileprivate var inOrder: [Value] { count < 2 ? Array(values) : sorted { $0.key < $1.key }.map(\.value) }
}

extension Dictionary {
    /// Returns all of the contents, leaving the dictionary empty.
    fileprivate mutating func take() -> Self {
        defer { self = [:] }
        return self
    }
}
