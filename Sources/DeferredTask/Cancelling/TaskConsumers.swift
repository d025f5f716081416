internal import DeferredCore

/// The consumers of a shared task that have not cancelled.
///
/// One that somebody holds wants the result, and so does one that is gone but whose handlers still wait for it.
struct TaskConsumers: Sendable {
    struct Consumer: Sendable {
        fileprivate let control: ObjectIdentifier
        fileprivate var isHeld = true
        fileprivate let future: FutureNode

        fileprivate var wantsResult: Bool { isHeld || future.hasWaiting }
    }

    private var consumers: [Consumer] = []
    private var pruningCount = 8
    private var hasCancelled = false

    /// Whether somebody has cancelled, and nobody wants the result any more.
    var areDone: Bool { hasCancelled && !consumers.contains(where: \.wantsResult) }

    /// Amortised O(1): forgets those that are gone when they may be half of all.
    ///
    /// - Returns: Those that were forgotten, to be let go outside of locks.
    mutating func add(_ control: TaskControl, _ future: FutureNode) -> [Consumer] {
        var old: [Consumer] = []
        if consumers.count >= pruningCount {
            old = consumers
            consumers.removeAll { !$0.wantsResult }
            pruningCount = max(8, 2 * consumers.count)
        }
        consumers.append(Consumer(control: ObjectIdentifier(control), future: future))
        return old
    }

    /// Counts out one that has cancelled. Returns it, to be let go outside of locks.
    mutating func cancel(_ control: TaskControl) -> Consumer? {
        hasCancelled = true
        return index(of: control).map { consumers.remove(at: $0) }
    }

    /// Notes that nobody holds a consumer any more.
    mutating func drop(_ control: TaskControl) {
        if let index = index(of: control) { consumers[index].isHeld = false }
    }

    /// The address of one that is gone may be that of another by now.
    private func index(of control: TaskControl) -> Int? {
        consumers.firstIndex { $0.isHeld && $0.control == ObjectIdentifier(control) }
    }
}
