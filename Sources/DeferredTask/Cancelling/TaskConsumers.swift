internal import DeferredCore

/// The consumers of a shared task that have not cancelled.
///
/// One that somebody holds wants the result, and so does one that is gone but whose handlers still wait for it. Nothing here
/// keeps its future, for handlers behind that may keep the shared task: only what the task waits with keeps it.
struct TaskConsumers: Sendable {
    struct Consumer: Sendable {
        fileprivate let control: ObjectIdentifier
        fileprivate var isHeld = true
        fileprivate weak var future: FutureNode?
    }

    /// Futures that were looked at under a lock, to be let go outside of it: what they keep may end with them.
    typealias Seen = [FutureNode]

    private var consumers: [Consumer] = []
    private var pruningCount = 8
    private var hasCancelled = false

    /// Whether somebody has cancelled, and nobody wants the result any more.
    var areDone: (Bool, Seen) {
        guard hasCancelled else { return (false, []) }
        var seen: Seen = []
        let isWanted = consumers.contains { Self.wantsResult($0, &seen) }
        return (!isWanted, seen)
    }

    /// Amortised O(1): forgets those that are gone when they may be half of all.
    mutating func add(_ control: TaskControl, _ future: FutureNode) -> Seen {
        var seen: Seen = []
        if consumers.count >= pruningCount {
            consumers.removeAll { !Self.wantsResult($0, &seen) }
            pruningCount = max(8, 2 * consumers.count)
        }
        consumers.append(Consumer(control: ObjectIdentifier(control), future: future))
        return seen
    }

    /// Counts out one that has cancelled.
    mutating func cancel(_ control: TaskControl) {
        hasCancelled = true
        if let index = index(of: control) { consumers.remove(at: index) }
    }

    /// Notes that nobody holds a consumer any more.
    mutating func drop(_ control: TaskControl) {
        if let index = index(of: control) { consumers[index].isHeld = false }
    }

    private static func wantsResult(_ consumer: Consumer, _ seen: inout Seen) -> Bool {
        if consumer.isHeld { return true }
        guard let future = consumer.future else { return false }
        seen.append(future)
        return future.hasWaiting
    }

    /// The address of one that is gone may be that of another by now.
    private func index(of control: TaskControl) -> Int? {
        consumers.firstIndex { $0.isHeld && $0.control == ObjectIdentifier(control) }
    }
}
