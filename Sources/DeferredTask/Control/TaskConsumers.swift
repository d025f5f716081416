internal import DeferredCore

/// The consumers of a shared task that have not cancelled.
///
/// A consumer that somebody holds wants the result, and so does a released one whose handlers still wait for it. Asking
/// which ones do requires a copy, outside of locks: the question may release the last reference to one of their
/// futures.
struct TaskConsumers: Sendable {
    private struct Consumer: Sendable {
        let control: ObjectIdentifier
        let number: Int
        var isHeld = true
        let future: UnownedFuture

        var wantsResult: Bool { isHeld || future.hasWaiting }
    }

    private var consumers: [Consumer] = []
    private var nextNumber = 0
    private var pruningCount = 8
    private var hasCancelled = false

    /// True if some consumer has cancelled, and none wants the result any more. For copies only.
    var areDone: Bool { hasCancelled && !consumers.contains(where: \.wantsResult) }

    /// The numbers of the consumers that no longer want the result. For copies only.
    var gone: Set<Int> { Set(consumers.lazy.filter { !$0.wantsResult }.map(\.number)) }

    /// True if there are so many consumers that half of them may be gone.
    var needPruning: Bool { consumers.count >= pruningCount }

    mutating func add(_ control: TaskControl, _ future: UnownedFuture) {
        consumers.append(Consumer(control: ObjectIdentifier(control), number: nextNumber, future: future))
        nextNumber += 1
    }

    mutating func remove(_ gone: Set<Int>) {
        consumers.removeAll { gone.contains($0.number) }
        pruningCount = max(8, 2 * consumers.count)
    }

    /// Removes a consumer that has cancelled.
    mutating func cancel(_ control: TaskControl) {
        hasCancelled = true
        if let index = index(of: control) { consumers.remove(at: index) }
    }

    /// Notes that nobody holds a consumer any more.
    mutating func drop(_ control: TaskControl) {
        if let index = index(of: control) { consumers[index].isHeld = false }
    }

    /// Compares held consumers only: another control may have the address of a released one.
    private func index(of control: TaskControl) -> Int? {
        consumers.firstIndex { $0.isHeld && $0.control == ObjectIdentifier(control) }
    }
}
