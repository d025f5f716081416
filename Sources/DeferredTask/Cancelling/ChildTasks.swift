internal import DeferredCore

/// The tasks that another one has started, or was made of: cancelled with it, and counted in its progress.
///
/// A child that starts when its parent was cancelled already is cancelled then and there.
@usableFromInline
package final class ChildTasks: Sendable {
    fileprivate struct Child: Sendable {
        let control: TaskControl
        /// What the parent waits with.
        var registration: Registration?
    }

    private struct State: Sendable {
        var running: [Int: Child] = [:]
        var nextKey = 0
        /// Children that have not started yet, each of which counts 1.
        var expected: Int
        /// What children that are gone counted.
        var ended = Share()
        var isCancelled = false
        var isEnded = false
    }

    private let state: Lock<State>
    private let watchers = Lock<Watchers?>(nil)

    /// - Parameter expected: How many children there will be.
    @usableFromInline
    init(expected: Int = 1) {
        state = Lock(State(expected: expected))
    }

    deinit {
        var running = state.withLock { $0.running.take() }.values.map(\.control)
        DroppedTasks.free(&running)
    }

    /// The children that run.
    var running: [TaskControl] { state.withLock { $0.running.values.map(\.control) } }

    /// How much is done of the children but for those that run, and these.
    var parts: (share: Share, running: [TaskControl]) {
        var (share, running, expected) = state.withLock { ($0.ended, $0.running.values.map(\.control), $0.expected) }
        if expected > 0 {
            share.add(weight: Double(expected), fraction: 0)
            // What they will amount to is not known.
            share.bytes.total = nil
            share.items.total = nil
        }
        return (share, running)
    }

    /// Notes a child that has started; `nil` for one that ended before it could be cancelled.
    ///
    /// - Returns: What the child is known by here.
    @discardableResult
    @usableFromInline
    func started(_ control: TaskControl?) -> Int {
        let (key, mustCancel) = state.withLock { state in
            state.expected = max(state.expected - 1, 0)
            state.nextKey += 1
            if state.isEnded { return (state.nextKey, true) }
            if let control {
                state.running[state.nextKey] = Child(control: control)
            } else {
                state.ended.add(weight: 1, fraction: 1)
            }
            return (state.nextKey, state.isCancelled)
        }
        if mustCancel { control?.cancel() }
        watchers.withLock { $0 }?.notify()
        return key
    }

    /// Keeps what a child's end is waited for with, unless it has ended.
    func wait(for key: Int, with registration: Registration) {
        let isEnded = state.withLock { state in
            state.running[key]?.registration = registration
            return state.isEnded
        }
        if isEnded { registration.cancel() }
    }

    /// Lets go of a child that has ended.
    func ended(_ key: Int) {
        guard let control = state.withLock({ $0.running[key]?.control }) else { return }
        let share = control.share
        let child = state.withLock { state in
            let child = state.running.removeValue(forKey: key)
            if child != nil { state.ended.add(share, isEnded: true) }
            return child
        }
        // Let go outside of the lock.
        withExtendedLifetime(child) {}
    }

    /// Calls `body` when a child has started.
    func watch(_ body: @escaping @Sendable () -> Void) -> Watchers.Watch {
        let watchers = watchers.withLock { watchers in
            let result = watchers ?? Watchers()
            watchers = result
            return result
        }
        return watchers.add(body)
    }

    /// Has children to come cancelled when they start.
    ///
    /// - Returns: Those that run, to be cancelled.
    func cancel() -> [TaskControl] {
        state.withLock { state in
            state.isCancelled = true
            return state.running.inOrder.map(\.control)
        }
    }

    /// Lets go of the children: their parent has ended.
    ///
    /// - Parameter cancelling: Whether to take back what waits for them, and to cancel them.
    func end(cancelling: Bool = false) {
        // What they have reported stays, where somebody follows it. Otherwise it isn't worth the look, which takes as long
        // as children are nested deeply.
        let isFollowed = watchers.withLock { $0 } != nil
        let shares = isFollowed ? state.withLock { $0.running }.mapValues(\.control.share) : [:]
        let running = state.withLock { state in
            state.isEnded = true
            // Together with their leaving, so that nobody finds neither.
            for (key, share) in shares where state.running[key] != nil { state.ended.add(share, isEnded: true) }
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
    /// The children as they were started, so that they are cancelled in the same order each time.
    fileprivate var inOrder: [Value] { count < 2 ? Array(values) : sorted { $0.key < $1.key }.map(\.value) }
}

extension Dictionary {
    /// All of it, leaving nothing.
    fileprivate mutating func take() -> Self {
        defer { self = [:] }
        return self
    }
}
