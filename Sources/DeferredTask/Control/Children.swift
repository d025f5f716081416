internal import DeferredCore

/// The tasks that another one has started, or was combined from: cancelled with it, and counted in its progress.
///
/// Part of the machine of a task.
final class Children {
    struct Child: Sendable {
        var task: TaskHandle
        /// The parent's handler on the child's end.
        var registration: Registration?
    }

    struct Place {
        let parent: UnownedReference<TaskNode>
        let key: Int
    }

    /// In the order in which they were started, so that they are always cancelled in the same order.
    private(set) var running = NumberedList<Child>()
    /// The number of children that have not started yet.
    private var expected: Int
    /// The least number of children to come: 1 if there may always be more, otherwise 0.
    private let openEnded: Int
    /// The sum of the shares of the children that were released.
    private(set) var ended = Share()
    private var isCancelled = false
    private(set) var isEnded = false
    /// True for the child of a stage that nobody can cancel any more.
    private var isForgotten = false
    /// The priority that children get when they start, if theirs is lower.
    private var priority: TaskPriority?
    /// The place of the task that these belong to among the children of the last task that has started it. For a stage only.
    private(set) var place: Place?
    /// True if these are the only child of a stage, whose result ends the stage.
    let isCollapsible: Bool
    /// The combination that these belong to.
    weak var combination: (any CancelledCombination)?

    init(expected: Int, isOpenEnded: Bool, isCollapsible: Bool) {
        self.expected = expected
        openEnded = isOpenEnded ? 1 : 0
        self.isCollapsible = isCollapsible
    }

    enum Start: Sendable {
        /// The parent has ended, or was cancelled.
        case cancel
        case run(TaskPriority?)
    }

    /// Notes a child that has started; `nil` for one that ended before it could be cancelled. Its key is 0 if it isn't kept.
    func start(_ task: TaskHandle?, hasFailed: Bool) -> (key: Int, Start) {
        expected = max(expected - 1, openEnded)
        if isEnded { return (0, .cancel) }
        var key = 0
        if let task {
            if !isForgotten { key = running.append(Child(task: task)) }
        } else {
            ended += Share.stages(1, isDone: !hasFailed).asChild()
        }
        return (key, isCancelled ? .cancel : .run(priority))
    }

    /// Keeps the handler on a child's end; false if the parent has ended.
    func wait(for key: Int, with registration: Registration) -> Bool {
        running.update(key) { $0.registration = registration }
        return !isEnded
    }

    /// Releases a child that has ended, and adds its share to those that were released.
    func end(_ key: Int, _ share: Share) -> Child? {
        guard let child = running.remove(key) else { return nil }
        ended += share
        return child
    }

    /// Marks children to come to be cancelled when they start. Returns the running ones, to be cancelled.
    func cancel() -> [TaskHandle] {
        isCancelled = true
        return running.elements.map(\.task)
    }

    /// Gives children to come at least this priority. Returns the running ones that may not have it.
    func raisePriority(to new: TaskPriority) -> [TaskHandle] {
        // Those who have it have passed it on. So it goes no further where tasks wait for each other in a circle.
        if let priority, priority >= new { return [] }
        priority = new
        return running.elements.map(\.task)
    }

    /// Releases the children: their parent has ended. What was known of their progress stays.
    func end(_ share: Share = Share()) -> [Child] {
        defer { running.removeAll() }
        isEnded = true
        ended += share
        return running.elements
    }

    /// Releases the only child of a stage: nobody is left who could cancel the stage. A combination still waits for its
    /// children.
    func forget() -> [AnyObject] {
        guard isCollapsible else { return [] }
        isForgotten = true
        defer { running.removeAll() }
        return running.elements.map(\.task.control)
    }

    // MARK: - Collapsing

    /// Notes the place of the task among the children of `parent`. Combinations keep theirs.
    func place(in parent: TaskNode, _ key: Int) {
        if isCollapsible { place = Place(parent: UnownedReference(parent), key: key) }
    }

    /// The only child of a stage.
    var only: TaskHandle? { isCollapsible ? running.only?.task : nil }

    /// Returns a child, if nobody else keeps its control.
    func unsharedChild(_ key: Int) -> TaskHandle? {
        running.update(key) { child in
            child.task.plainCount == 0 && isKnownUniquelyReferenced(&child.task.control) ? child.task : nil
        }
    }

    /// Puts `new` in the place of a child, which had completed the rest, if nobody else keeps the control of that. Returns
    /// the child.
    func replace(_ key: Int, _ old: ObjectIdentifier, by new: TaskHandle, completed: Share) -> (Start, TaskHandle)? {
        running.update(key) { child in
            guard ObjectIdentifier(child.task.control) == old, isKnownUniquelyReferenced(&child.task.control) else {
                return nil
            }
            defer { child.task = new }
            ended += completed
            return (isCancelled ? .cancel : .run(priority), child.task)
        }
    }

    /// Releases the only child of a stage, which has another place now.
    func removeOnly() -> Child? {
        defer { running.removeAll() }
        return running.only
    }

    // MARK: - Progress

    /// The share of the stage that the children belong to.
    ///
    /// - Parameter followed: The sum of the shares of running children that are known.
    func share(_ followed: Share, isDone: Bool) -> Share {
        var sum = ended
        sum += followed
        // A child that has started counts as one to come until its share is known.
        let unknown = expected &+ running.count &- followed.children
        return sum.asStage(expected: isEnded ? 0 : unknown, isDone: isDone)
    }
}
