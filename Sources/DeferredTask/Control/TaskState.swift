public import DeferredCore
internal import Synchronization

/// State shared by the two sides of a task: its control, which cancels, and its future, which ends.
///
/// Both keep it, and the first that is done empties it: the future at its end, or the control when nobody is left who
/// could cancel. So the handlers never outlive their use, although they may refer to the future that keeps this state.
@usableFromInline
package final class TaskState: Sendable {
    typealias Handler = @Sendable () -> Void

    // No member is weak, or an enumeration of references: that would turn each move into a call.
    private struct State: ~Copyable, Sendable {
        var machine = CancellationStateMachine()
        var contents: Contents
        /// The progress object while somebody holds it; created on first use.
        var progress: Reference?
        /// The plain stages derived from the task that were given a state; created for the first of them.
        var plainStages: PlainStages?
    }

    /// SAFETY: locked by the state's lock.
    private final class PlainStages: @unchecked Sendable {
        @exclusivity(unchecked)
        var all: [PlainStage] = []
        /// The number of stages at which those that have ended are removed.
        @exclusivity(unchecked)
        var pruningCount = 8

        init() {
            all.reserveCapacity(pruningCount)
        }
    }

    /// SAFETY: locked by the state's lock.
    private final class Reference: @unchecked Sendable {
        weak var progress: TaskProgress?
    }

    /// The contents that are released at the end.
    private struct Contents: ~Copyable, Sendable {
        var children: ChildTasks?
        /// The handler that the task was created with: the oldest one.
        var handler: Handler?
        /// Holds the handlers that were added later; created for the first of them.
        var cancellation: FutureStorage<CancellationToken.Ending>?
        /// The task's first registration with something else, taken back at the end. `following` holds any others.
        var registration: Registration?
        /// The first tracker to be told of the end, apart from the future's handlers. `following` holds any others.
        var tracker: ProgressTracker?
        /// Created on first use.
        var following: Following?
    }

    /// State that few tasks need.
    ///
    /// SAFETY: locked by the state's lock, until it is released.
    private final class Following: @unchecked Sendable {
        /// The trackers that are told of the end, except the first.
        @exclusivity(unchecked)
        var trackers: [ProgressTracker] = []
        /// The task's registrations with something else, except the first.
        @exclusivity(unchecked)
        var registrations: [Registration] = []
        /// The number of registrations at which finished ones are removed.
        @exclusivity(unchecked)
        var pruningCount = 8
        @exclusivity(unchecked)
        var consumers = TaskConsumers()
    }

    private let state: Lock<State>
    /// True once the machine is cancelled, and for ever; so that it is read without the lock.
    private let hasCancelled = Atomic(false)
    /// The bits of the highest fraction that any reader was given; they order like the fractions.
    private let highestFraction = Atomic(UInt64(0))

    init(_ work: TaskWork, handler: Handler?) {
        var contents = Contents(handler: handler)
        if case .children(let children) = work { contents.children = children }
        state = Lock(State(contents: contents))
    }

    /// Called by a future at its end, with its attachment.
    @usableFromInline
    static func end(_ attached: AnyObject) {
        unsafeDowncast(attached, to: TaskState.self).end()
    }

    /// Notes the end of the future.
    func end() { letGo(hasEnded: true) }

    /// Releases everything, outside of the lock. Only the first call has an effect.
    ///
    /// - Parameter hasEnded: True if the reason is the end of the task, which is also that of its children.
    func letGo(hasEnded: Bool = false) {
        var contents = state.withLock { state in
            var contents = Contents()
            swap(&contents, &state.contents)
            state.machine.end()
            return contents
        }
        contents.cancellation?.fillDroppingHandlers(with: .abandoned)
        contents.registration?.cancel()
        // As long as trackers still follow them: what the children have reported stays in the progress.
        if hasEnded { contents.children?.end() }
        contents.tracker?.ended(self)
        if let following = contents.following {
            for registration in following.registrations { registration.cancel() }
            for tracker in following.trackers { tracker.ended(self) }
        }
        // It may hold a task whose handler holds another, and so on.
        Trampoline.free(&contents.handler)
    }

    /// Keeps the state of a plain stage derived from the task, until it ends or `letGoOfPlainStages` is called.
    ///
    /// Amortised O(1): looks for stages that have ended when they may be half of all.
    func keep(_ stage: PlainStage) {
        let crowd: [PlainStage]? = state.withLock { state in
            let stages = state.plainStages ?? PlainStages()
            state.plainStages = stages
            stages.all.append(stage)
            return stages.all.count > stages.pruningCount ? stages.all : nil
        }
        guard let crowd else { return }
        // Outside of the lock, since each has its own.
        let ended = Set(crowd.lazy.filter(\.state.isEnded).map { ObjectIdentifier($0.state) })
        state.withLock { state in
            guard let stages = state.plainStages else { return }
            stages.all.removeAll { ended.contains(ObjectIdentifier($0.state)) }
            stages.pruningCount = max(8, 2 * stages.all.count)
        }
        // Released outside of the lock.
        withExtendedLifetime(crowd) {}
    }

    /// The tasks that the task has started, or was combined from; `nil` after its end.
    var children: ChildTasks? { state.withLock { $0.contents.children } }

    private var plainStages: [PlainStage] { state.withLock { $0.plainStages?.all ?? [] } }

    /// The state of a plain stage derived from the task, which may be gone.
    func plainStage(_ future: UnownedFuture) -> TaskState? {
        plainStages.last { $0.future.isSame(as: future) }?.state
    }

    /// The plain stages among the first `count` behind the task that are gone without having ended, in order.
    func lostStages(within count: UInt32) -> [PlainStage] {
        plainStages.filter { $0.plainCount < count && $0.future.isLost }.sorted { $0.plainCount < $1.plainCount }
    }

    /// Releases everything that is registered with the plain stages: nobody is left who could cancel them.
    func letGoOfPlainStages() {
        let stages = state.withLock { state in
            defer { state.plainStages = nil }
            return state.plainStages?.all ?? []
        }
        for stage in stages { stage.state.letGo() }
    }

    /// True if the task was cancelled before its end.
    var isCancelled: Bool { hasCancelled.load(ordering: .acquiring) }

    /// True if nothing is registered that a cancellation would call, or that could cancel.
    var isUnobserved: Bool {
        state.withLock { state in
            state.contents.handler == nil && state.contents.cancellation == nil && state.contents.registration == nil
        }
    }

    var isEnded: Bool { state.withLock { $0.machine.isEnded } }

    /// Notes a fraction, from 0 to 1, that a reader is about to be given.
    ///
    /// - Returns: The highest fraction so far, to be given instead, so that no reader sees the progress decrease.
    func raise(to fraction: Double) -> Double {
        Double(bitPattern: highestFraction.max(fraction.bitPattern, ordering: .relaxed).newValue)
    }

    /// The handlers to be called, newest first.
    struct Cancellation: Sendable {
        fileprivate var newer: FutureStorage<CancellationToken.Ending>?
        fileprivate var oldest: Handler?

        consuming func callHandlers() {
            if let newer = newer.take() { _ = newer.fillNewestFirst(with: .cancelled) }
            oldest.take()?()
        }
    }

    /// Notes a request to stop. Returns the handlers to call, the first time before the end.
    func cancel() -> Cancellation? {
        state.withLock { state in
            guard state.machine.cancel() else { return nil }
            // Pairs with the load in `isCancelled`.
            hasCancelled.store(true, ordering: .releasing)
            return Cancellation(newer: state.contents.cancellation.take(), oldest: state.contents.handler.take())
        }
    }

    /// Returns a token that is cancelled with the task, until its end.
    func token() -> CancellationToken {
        let cancellation: FutureStorage<CancellationToken.Ending>? = state.withLock { state in
            switch state.machine.state {
            case .ended: return nil
            case .cancelled: return FutureStorage(filledWith: .cancelled)
            case .active:
                let cancellation = state.contents.cancellation ?? FutureStorage()
                state.contents.cancellation = cancellation
                return cancellation
            }
        }
        return CancellationToken(cancellation)
    }

    /// Calls `body`, locked, with the state that few tasks need. Returns `nil` if the end has come.
    private func following<Result>(_ body: @Sendable (Following) -> sending Result) -> Result? {
        state.withLock { state in
            guard !state.machine.isEnded else { return nil }
            let following = state.contents.following ?? Following()
            state.contents.following = following
            return body(following)
        }
    }

    /// Keeps `registration` until the end; cancels it if the task has ended.
    ///
    /// Amortised O(1): removes finished registrations when they may be half of all.
    func takeBackAtEnd(_ registration: Registration) {
        guard registration.isPending else { return }
        let isFirst = state.withLock { state in
            guard !state.machine.isEnded, state.contents.registration == nil else { return false }
            state.contents.registration = registration
            return true
        }
        if isFirst { return }
        let old: [Registration]? = following { following in
            var old: [Registration] = []
            if following.registrations.count >= following.pruningCount {
                old = following.registrations
                following.registrations.removeAll { !$0.isPending }
                following.pruningCount = max(8, 2 * following.registrations.count)
            }
            following.registrations.append(registration)
            return old
        }
        if old == nil { registration.cancel() }
    }

    /// Notes one more consumer of a shared task. Amortised O(1).
    @usableFromInline
    func addConsumer(_ control: TaskControl, _ future: UnownedFuture) {
        let consumers = withConsumers { $0.add(control, future) }
        if consumers.needPruning {
            let gone = consumers.gone
            _ = withConsumers { $0.remove(gone) }
        }
    }

    /// Notes that a consumer has cancelled; returns true if nobody wants the task any more.
    func cancelConsumer(_ control: TaskControl) -> Bool {
        withConsumers { $0.cancel(control) }.areDone
    }

    /// Notes that nobody holds a consumer any more; returns true if nobody wants the task, and somebody has cancelled.
    func dropConsumer(_ control: TaskControl) -> Bool {
        withConsumers { $0.drop(control) }.areDone
    }

    /// Returns a copy of what they are afterwards.
    private func withConsumers(_ body: @Sendable (inout TaskConsumers) -> Void) -> TaskConsumers {
        following { following in
            body(&following.consumers)
            return following.consumers
        } ?? TaskConsumers()
    }

    /// Keeps `tracker` until the end, and tells it of that; false if it has come.
    func watch(_ tracker: ProgressTracker) -> Bool {
        let isFirst = state.withLock { state in
            guard !state.machine.isEnded, state.contents.tracker == nil else { return false }
            state.contents.tracker = tracker
            return true
        }
        return isFirst || following { $0.trackers.append(tracker) } != nil
    }

    func stopWatching(_ tracker: ProgressTracker) {
        state.withLock { state in
            if state.contents.tracker === tracker { state.contents.tracker = nil }
            state.contents.following?.trackers.removeAll { $0 === tracker }
        }
    }

    /// The progress object that somebody holds.
    var progress: TaskProgress? { state.withLock { $0.progress?.progress } }

    /// Shares `new`, unless another thread came first; returns what is shared.
    func share(_ new: TaskProgress) -> TaskProgress {
        state.withLock { state in
            let reference = state.progress ?? Reference()
            state.progress = reference
            if let progress = reference.progress { return progress }
            reference.progress = new
            return new
        }
    }
}
