internal import DeferredCore
internal import Synchronization

/// The way up from the progress of one task to that of another, which is made of it.
struct ProgressEdge: Sendable {
    /// The node below, and the number of the edge among those that lead up from there.
    let node: TaskNode
    let id: Int
}

/// The progress of a task while somebody follows it: a sum that is kept.
///
/// Part of the machine of a task. The sum is that of the chain that ends with the task. Its parts are the sum of the
/// previous task, the task's own share, and its children.
final class KeptProgress {
    /// Somebody who is told of a change.
    enum Follower: Sendable {
        /// The node of a task that is derived from this one, or has it as a child.
        case node(TaskNode, key: Int)
        /// Somebody who reads the progress.
        case reader(@Sendable () -> Void)
        /// Keeps the sum until its caller has added a follower.
        case none
    }

    /// A part that is the sum of another node.
    private struct Part {
        let edge: ProgressEdge
        var share = Share()
        /// The number of the change that `share` was.
        var number = 0
    }

    /// The keys of the parts that are no children.
    static let (own, input) = (0, -1)

    private static let lastID = Atomic(0)

    /// Tells this from one that the same task gets later, whose numbers begin anew.
    let id = lastID.wrappingAdd(1, ordering: .relaxed).newValue
    let task: OwnShare
    private(set) var sum = Share()
    /// Counts the changes of `sum`.
    private(set) var number = 0
    var stopWatching: (@Sendable () -> Void)?
    /// True once all parts are in the sum.
    var isComplete = false

    private var own = Share()
    /// The number of the last look at the task's own share, and of the one that `own` is from.
    private var (looks, ownNumber) = (0, 0)
    private var input: Part?
    private var running: [Int: Part] = [:]
    /// The sum of the shares of `running`.
    private(set) var children = Share()
    private var followers = NumberedList<Follower>()
    /// The parts that have changed, beside the task's own.
    private var changed: [Int] = []
    /// True while a thread is about to look at what has changed.
    private(set) var isQueued = false
    /// True once the task has succeeded, as far as it was looked at.
    private(set) var isDone = false

    init(_ task: OwnShare) {
        self.task = task
    }

    func add(_ follower: Follower) -> Int { followers.append(follower) }

    /// Removes a follower. Returns it, and true if nobody is left.
    func remove(_ id: Int) -> (Follower?, isLast: Bool) { (followers.remove(id), followers.isEmpty) }

    /// The nodes above.
    var nodes: [TaskNode] { followers.elements.compactMap { if case .node(let node, _) = $0 { node } else { nil } } }

    // MARK: - Parts

    /// Adds the sum of another node as a part; false if that is one.
    func connect(_ key: Int, _ edge: ProgressEdge) -> Bool {
        guard part(key) == nil else { return false }
        if key == Self.input { input = Part(edge: edge) } else { running[key] = Part(edge: edge) }
        return true
    }

    private func part(_ key: Int) -> Part? { key == Self.input ? input : running[key] }

    /// The node that a part is the sum of.
    func node(_ key: Int) -> TaskNode? { part(key)?.edge.node }

    /// Removes a child's part.
    func disconnect(_ key: Int) -> ProgressEdge? {
        guard let part = running.removeValue(forKey: key) else { return nil }
        children -= part.share
        // What is rounded in subtracting doesn't add up.
        if running.isEmpty { children = Share() }
        return part.edge
    }

    /// The ways to here.
    var edges: [ProgressEdge] { [input?.edge].compactMap(\.self) + running.values.map(\.edge) }

    /// Releases the children. What was known of their progress stays.
    func takeChildren() -> (edges: [ProgressEdge], share: Share) {
        defer { (running, children) = ([:], Share()) }
        return (running.values.map(\.edge), children)
    }

    // MARK: - Changes

    /// Notes that a part has changed; true if nobody looks at it yet.
    func mark(_ key: Int) -> Bool {
        if key != Self.own { changed.append(key) }
        defer { isQueued = true }
        return !isQueued
    }

    /// Begins a look at what has changed: the parts, and the nodes that they are the sums of.
    ///
    /// - Parameter atAll: Whether to return all parts.
    func look(_ atAll: Bool) -> (number: Int, changed: [(key: Int, node: TaskNode)]) {
        defer { changed = [] }
        isQueued = false
        looks += 1
        let keys = atAll ? [Self.input] + running.keys : changed
        return (looks, keys.compactMap { key in node(key).map { (key, $0) } })
    }

    /// Takes over the task's own share, unless a later look came first.
    func update(own share: Share, _ isDone: Bool, _ number: Int) {
        guard number > ownNumber else { return }
        (own, ownNumber) = (share, number)
        if isDone { self.isDone = true }
    }

    /// Takes over what a part is now, unless that is older than what is known, or the part is that of another node now.
    func update(_ key: Int, _ node: TaskNode, _ sum: (share: Share, number: Int)) {
        guard var part = part(key), part.edge.node === node, sum.number > part.number else { return }
        defer { if key == Self.input { input = part } else { running[key] = part } }
        part.number = sum.number
        if key == Self.input { return part.share = sum.share }
        children -= part.share
        part.share = sum.share.asChild()
        children += part.share
    }

    /// Adds the parts, of which `stage` is that of the children. Returns who has to be told.
    func add(up stage: Share) -> [Follower] {
        sum = own
        sum += stage
        if let input { sum += input.share }
        number += 1
        return followers.elements
    }
}

/// The share of a task without its children, and of the plain stages before it that had ended when somebody asked for the
/// progress for the first time.
///
/// Nobody knows any more how each of these ended. They count in full if the stage that they led to succeeded, or the task
/// that they came from, and otherwise as nothing.
struct OwnShare: Sendable {
    let task: UnownedFuture
    let source: (any ProgressSource)?
    /// True for a stage that counts 1.
    let isSilent: Bool
    /// True for a plain stage.
    let isPlain: Bool
    let endedCount: Int
    let upstream: UnownedFuture?
    /// Keep what is read of the two futures: a thread may look while the last reader, and so the controls, go.
    private let observers: (Registration?, Registration?)

    init(_ handle: TaskHandle, _ input: TaskHandle.Input) {
        task = handle.future
        isPlain = handle.isPlain
        switch handle.work {
        case .reporting(let source): (self.source, isSilent) = (source, false)
        case .opaque, .running: (source, isSilent) = (nil, true)
        case .children, .shared, .passing: (source, isSilent) = (nil, false)
        }
        switch input {
        case .none: (endedCount, upstream) = (0, nil)
        case .lost(let control, let count): (endedCount, upstream) = (Int(count), control.future)
        case .upstream(let input, let count): (endedCount, upstream) = (count, input.future)
        }
        observers = (handle.control.observer, input.task?.control.observer)
    }

    var now: Share {
        let isDone = task.hasSucceeded
        var share = Share()
        if isSilent { share += .stages(1, isDone: isDone) }
        if let source { share += .reporting(source, isDone: isDone) }
        if endedCount > 0 { share += .stages(endedCount, isDone: isDone || upstream?.hasSucceeded == true) }
        return share
    }
}
