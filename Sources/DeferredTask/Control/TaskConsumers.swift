internal import DeferredCore

/// The consumers of a shared task that have not cancelled.
///
/// A consumer that somebody holds wants the result, and so does a released one whose handlers still wait for it. Asking
/// which of the released ones do requires a copy, outside of locks: the question may release the last reference to one
/// of their futures.
struct TaskConsumers: Sendable {
    private struct Consumer: Sendable {
        let future: UnownedFuture
        var isHeld = true

        var wantsResult: Bool { isHeld || future.strong?.hasHandlers == true }
    }

    /// By the addresses of their futures, whose memory is kept here, so that no two are at the same address.
    private var all: [UInt: Consumer] = [:]
    private var pruningCount = 8
    private var hasCancelled = false

    /// True if some consumer has cancelled, and none wants the result any more. For copies only.
    var areDone: Bool { hasCancelled && !all.values.contains(where: \.wantsResult) }

    /// The released consumers that no longer want the result. For copies only.
    var gone: [UnownedFuture] { all.values.lazy.filter { !$0.wantsResult }.map(\.future) }

    /// True if there are so many consumers that half of them may be gone.
    var needPruning: Bool { all.count >= pruningCount }

    mutating func add(_ consumer: UnownedFuture) { all[consumer.address] = Consumer(future: consumer) }

    /// Removes a consumer that has cancelled.
    mutating func cancel(_ consumer: UnownedFuture) {
        hasCancelled = true
        all[consumer.address] = nil
    }

    /// Notes that nobody holds a consumer any more.
    mutating func drop(_ consumer: UnownedFuture) { all[consumer.address]?.isHeld = false }

    mutating func remove(_ gone: [UnownedFuture]) {
        for consumer in gone { all[consumer.address] = nil }
        pruningCount = max(8, 2 * all.count)
    }
}
