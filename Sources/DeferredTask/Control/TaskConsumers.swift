internal import DeferredCore

/// The consumers of a shared task that have not cancelled.
///
/// One that somebody holds wants the result, and so does one that is gone but whose handlers still wait for it. To ask
/// which do is for copies, outside of locks: it may come to be the last to hold one of their futures.
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

    /// Whether somebody has cancelled, and nobody wants the result any more. For copies.
    var areDone: Bool { hasCancelled && !consumers.contains(where: \.wantsResult) }

    /// The numbers of those that want the result no more. For copies.
    var gone: Set<Int> { Set(consumers.lazy.filter { !$0.wantsResult }.map(\.number)) }

    /// Whether there are so many that half of them may be gone.
    var needPruning: Bool { consumers.count >= pruningCount }

    mutating func add(_ control: TaskControl, _ future: UnownedFuture) {
        consumers.append(Consumer(control: ObjectIdentifier(control), number: nextNumber, future: future))
        nextNumber += 1
    }

    mutating func remove(_ gone: Set<Int>) {
        consumers.removeAll { gone.contains($0.number) }
        pruningCount = max(8, 2 * consumers.count)
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

    /// The address of one that is gone may be that of another by now.
    private func index(of control: TaskControl) -> Int? {
        consumers.firstIndex { $0.isHeld && $0.control == ObjectIdentifier(control) }
    }
}
