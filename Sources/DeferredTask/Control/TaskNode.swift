internal import DeferredCore
internal import Synchronization

/// State shared by the two sides of a task: its control, which cancels, and its future, which ends.
///
/// Both keep it, and the first that is done empties it: the future at its end, or the control when nobody is left who
/// could cancel. So the handlers never outlive their use, although they may refer to the future that keeps the node.
///
/// All decisions are those of ``TaskMachine``, under the lock; what follows from them is done here, outside of it.
@usableFromInline
package final class TaskNode: Sendable {
    private let machine: Lock<TaskMachine>
    /// True once the machine is cancelled, and for ever; so that it is read without the lock.
    private let hasCancelled = Atomic(false)
    /// The bits of the highest fraction that any reader was given; they order like the fractions.
    private let highestFraction = Atomic(UInt64(0))

    init(_ handler: TaskMachine.Handler? = nil) {
        machine = Lock(TaskMachine(handler))
    }

    /// Creates the node of a task with children.
    ///
    /// - Parameters:
    ///   - expected: The number of children to come.
    ///   - isOpenEnded: Whether there may be more of them.
    ///   - isCollapsible: Whether these are the only child of a stage, whose result ends the stage.
    @usableFromInline
    init(expected: Int, isOpenEnded: Bool = false, isCollapsible: Bool = false) {
        let children = Children(expected: expected, isOpenEnded: isOpenEnded, isCollapsible: isCollapsible)
        machine = Lock(TaskMachine(children: children))
    }

    deinit {
        var controls: [AnyObject] = machine.withLock { $0.children?.end().map(\.task.control) ?? [] }
        // Releasing a task can release its children.
        Trampoline.free(&controls)
    }

    func withLock<Result>(_ body: (inout sending TaskMachine) -> sending Result) -> sending Result {
        machine.withLock(body)
    }

    // MARK: - The end

    /// Called by a future at its end, with its attachment.
    @usableFromInline
    static func end(_ attached: AnyObject) { unsafeDowncast(attached, to: TaskNode.self).end() }

    /// Called by a future that only waits for another one, with its attachment: true if a token could cancel the task.
    @usableFromInline
    static func isObserved(_ attached: AnyObject) -> Bool {
        unsafeDowncast(attached, to: TaskNode.self).withLock { !$0.links.isEmpty }
    }

    /// Called by a future whose input is lost, with its attachment.
    @usableFromInline
    static func isCancelled(_ attached: AnyObject) -> Bool {
        unsafeDowncast(attached, to: TaskNode.self).isCancelled
    }

    /// Called by a future that is lost, with its attachment: nobody can end the task, so that tokens no longer keep it.
    @usableFromInline
    static func lost(_ attached: AnyObject) {
        for link in unsafeDowncast(attached, to: TaskNode.self).withLock({ $0.links }) { link.hold.strong?.release() }
    }

    /// Notes the end of the future.
    func end() {
        var (registered, (_, edges), stopWatching, mustTell, isPlain) = withLock { machine in
            let progress = machine.progress
            // What is reported after the end doesn't count.
            return (
                machine.end(), machine.endChildren(), progress?.stopWatching.take(),
                progress?.mark(KeptProgress.own) ?? false, progress?.task.isPlain ?? false
            )
        }
        registered?.free()
        stopWatching?()
        Self.release(edges)
        guard mustTell else { return }
        // Plain stages often end one after another: each of their nodes is looked at once, when all have ended.
        if isPlain { Trampoline.runAtEnd { self.tellChanges(atAll: true) } } else { tellChanges(atAll: true) }
    }

    /// Releases everything that could cancel, or be told of a cancellation, here and at the plain stages derived from the
    /// task. Only the first call has an effect.
    func letGo() {
        var (registered, controls, stages) = withLock {
            ($0.end(), $0.children?.forget() ?? [], $0.takePlainStages())
        }
        registered?.free()
        // Releasing a child can release its children.
        Trampoline.free(&controls)
        for stage in stages { stage.node.letGo() }
    }

    var isEnded: Bool { withLock { $0.isEnded } }

    // MARK: - Cancelling

    /// True if the task was cancelled before its end.
    var isCancelled: Bool { hasCancelled.load(ordering: .acquiring) }

    /// Notes a request to stop. Returns the handlers to call, the first time before the end.
    func cancel() -> TaskMachine.Registered? {
        let registered = withLock { machine in
            let registered = machine.cancel()
            // Pairs with the load in `isCancelled`.
            if registered != nil { hasCancelled.store(true, ordering: .releasing) }
            return registered
        }
        for link in registered?.links ?? [] { link.registration.cancel() }
        return registered
    }

    /// Keeps a registration until the end or a cancellation; cancels it if that has come.
    func keep(_ link: TokenLink) {
        guard link.registration.isPending else { return }
        if withLock({ $0.keep(link) }) == nil { link.registration.cancel() }
    }

    // MARK: - Consumers

    /// Notes one more consumer of a shared task. Amortised O(1).
    func addConsumer(_ control: TaskControl) {
        let consumers = withLock { $0.withConsumers { $0.add(control.future) } }
        if consumers.needPruning {
            let gone = consumers.gone
            _ = withLock { $0.withConsumers { $0.remove(gone) } }
        }
    }

    /// Notes that a consumer has cancelled; returns true if nobody wants the task any more.
    func cancelConsumer(_ control: TaskControl) -> Bool {
        withLock { $0.withConsumers { $0.cancel(control.future) } }.areDone
    }

    /// Notes that nobody holds a consumer any more; returns true if nobody wants the task, and somebody has cancelled.
    func dropConsumer(_ control: TaskControl) -> Bool {
        withLock { $0.withConsumers { $0.drop(control.future) } }.areDone
    }

    // MARK: - Plain stages

    /// Keeps the node of a plain stage derived from the task, until it ends or `letGo` is called.
    ///
    /// Amortised O(1): looks for stages that have ended when they may be half of all.
    func keep(_ stage: PlainStage) {
        guard let all = withLock({ $0.keep(stage) }) else { return }
        // Outside of the lock, since each has its own.
        let ended = Set(all.lazy.filter(\.node.isEnded).map { ObjectIdentifier($0.node) })
        withLock { $0.removePlainStages(ended) }
        // Released outside of the lock.
        withExtendedLifetime(all) {}
    }

    /// The node of a plain stage derived from the task, which may be gone.
    func plainNode(of future: UnownedFuture) -> TaskNode? {
        withLock { $0.plainStages }.last { $0.future.address == future.address }?.node
    }

    /// The node of a plain stage that is gone; if there is none, keeps that of `stage`.
    func plainNode(of stage: PlainStage) -> TaskNode {
        withLock { machine in
            if let known = machine.plainStages.last(where: { $0.future.address == stage.future.address }) {
                return known.node
            }
            _ = machine.keep(stage)
            return stage.node
        }
    }

    /// The plain stages among the first `count` behind the task that are gone without having ended, in order.
    func lostStages(within count: UInt32) -> [PlainStage] {
        withLock { $0.plainStages }.filter { $0.plainCount <= count && $0.future.isLost }
            .sorted { $0.plainCount < $1.plainCount }
    }

    // MARK: - The object

    /// The progress object that somebody holds.
    var object: TaskProgress? { withLock { $0.object } }

    /// Notes a fraction, from 0 to 1, that a reader is about to be given.
    ///
    /// - Returns: The highest fraction so far, to be given instead, so that no reader sees the progress decrease.
    func raise(to fraction: Double) -> Double {
        Double(bitPattern: highestFraction.max(fraction.bitPattern, ordering: .relaxed).newValue)
    }
}

/// A reference from a token to a task.
///
/// It keeps the task until the task ends, or until its future is lost, and then only finds it.
final class TokenHold: Sendable {
    private let future: UnownedFuture
    private let plainCount: UInt32
    private let reference: UnownedReference<TaskControl>
    private let kept: Lock<TaskControl?>

    init(_ task: TaskHandle) {
        future = task.future
        plainCount = task.plainCount
        reference = UnownedReference(task.control)
        kept = Lock(task.control)
    }

    func cancel() {
        guard let control = reference.strong else { return }
        TaskHandle(future, control, plainCount: plainCount).cancel()
    }

    func release() {
        // Freed outside of the lock, and in a loop: it may keep others.
        var controls: [AnyObject] = kept.withLock { $0.take() }.map { [$0] } ?? []
        Trampoline.free(&controls)
    }
}

/// A task's registration with a token.
struct TokenLink: Sendable {
    let registration: Registration
    /// Kept by the token's handler only: it keeps the control, and that the node.
    let hold: UnownedReference<TokenHold>
}
