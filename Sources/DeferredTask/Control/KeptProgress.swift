internal import DeferredCore

/// The way up from the progress of one task to that of another, which is made of it.
struct ProgressEdge: Sendable {
    /// The node below, and the number of the edge among those that lead up from there.
    let node: TaskNode
    let id: Int
    /// The share that this adds to the node above, and the number of the change that it was.
    var share = Share()
    var number = 0
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

    /// The keys of the parts that are no children.
    static let (own, input) = (-1, -2)

    let task: OwnShare
    private(set) var sum = Share()
    /// Counts the changes of `sum`.
    private(set) var number = 0
    var inputEdge: ProgressEdge?
    var sourceWatch: Watchers.Watch?

    private var own = Share()
    /// The numbers of the last look at the task's own share, and of the last one that was taken over.
    private var (looks, ownNumber) = (0, 0)
    private var followers: [Int: Follower] = [:]
    private var lastID = 0
    /// The parts that have changed.
    private var changed: [Int] = []
    /// True while a thread is about to look at what has changed.
    private var isQueued = false

    init(_ task: OwnShare) {
        self.task = task
    }

    func add(_ follower: Follower) -> Int {
        lastID += 1
        followers[lastID] = follower
        return lastID
    }

    /// Returns true if nobody is left.
    func remove(_ id: Int) -> Bool {
        followers[id] = nil
        return followers.isEmpty
    }

    /// The nodes above.
    var nodes: [TaskNode] { followers.values.compactMap { if case .node(let node, _) = $0 { node } else { nil } } }

    /// Notes that a part has changed; true if nobody looks at it yet.
    func mark(_ key: Int) -> Bool {
        changed.append(key)
        defer { isQueued = true }
        return !isQueued
    }

    /// Begins a look at what has changed.
    func look() -> (number: Int, changed: [Int]) {
        defer { changed = [] }
        isQueued = false
        looks += 1
        return (looks, changed)
    }

    /// Takes over the task's own share, unless a later look came first.
    func update(own share: Share, _ number: Int) {
        guard number > ownNumber else { return }
        ownNumber = number
        own = share
    }

    /// Takes over the sum of the previous task, unless that is older than what is known.
    func updateInput(_ share: Share, _ number: Int) {
        guard let edge = inputEdge, number > edge.number else { return }
        inputEdge?.share = share
        inputEdge?.number = number
    }

    /// Adds the parts. Returns who has to be told.
    func add(up children: Share) -> [Follower] {
        sum = own
        sum += children
        if let inputEdge { sum += inputEdge.share }
        number += 1
        return Array(followers.values)
    }
}

/// The share of a task without its children, and of the plain stages before it that had ended when somebody asked for the
/// progress for the first time.
///
/// Nobody knows any more how each of these ended. They count in full if the stage that they led to succeeded, or the task
/// that they came from, and otherwise as nothing.
struct OwnShare: Sendable {
    let task: UnownedFuture
    let source: (any FractionSource)?
    /// True for a stage that counts 1.
    let isSilent: Bool
    /// True for a plain stage.
    let isPlain: Bool
    let endedCount: Int
    let upstream: UnownedFuture?

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
