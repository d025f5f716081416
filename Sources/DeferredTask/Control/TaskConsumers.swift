internal import DeferredCore

/// The consumers of a shared task that have not cancelled.
///
/// A consumer that somebody holds wants the result, and so does a released one whose handlers still wait for it. Asking
/// which of the released ones do requires a copy, outside of locks: the question may release the last reference to one
/// of their futures.
struct TaskConsumers: Sendable {
    private struct Released: Sendable {
        let number: Int
        let future: UnownedFuture
    }

    private var held: [ObjectIdentifier: UnownedFuture] = [:]
    private var released: [Released] = []
    private var nextNumber = 0
    private var pruningCount = 8
    private var hasCancelled = false

    /// True if some consumer has cancelled, and none wants the result any more. For copies only.
    var areDone: Bool { hasCancelled && held.isEmpty && !released.contains(where: \.future.hasWaiting) }

    /// The numbers of the released consumers that no longer want the result. For copies only.
    var gone: Set<Int> { Set(released.lazy.filter { !$0.future.hasWaiting }.map(\.number)) }

    /// True if so many consumers were released that half of them may be gone.
    var needPruning: Bool { released.count >= pruningCount }

    /// - Parameter consumer: The consumer's control.
    mutating func add(_ consumer: ObjectIdentifier, _ future: UnownedFuture) {
        held[consumer] = future
    }

    mutating func remove(_ gone: Set<Int>) {
        released.removeAll { gone.contains($0.number) }
        pruningCount = max(8, 2 * released.count)
    }

    /// Removes a consumer that has cancelled.
    mutating func cancel(_ consumer: ObjectIdentifier) {
        hasCancelled = true
        held.removeValue(forKey: consumer)
    }

    /// Notes that nobody holds a consumer any more.
    mutating func drop(_ consumer: ObjectIdentifier) {
        guard let future = held.removeValue(forKey: consumer) else { return }
        released.append(Released(number: nextNumber, future: future))
        nextNumber += 1
    }
}
