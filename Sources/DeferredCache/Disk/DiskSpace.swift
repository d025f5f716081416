internal import DeferredCore
internal import Dispatch
internal import Foundation

/// Counts the bytes in a cache's folder, and removes responses when they are too many.
///
/// Other processes store and remove, too, so the number is an estimate, put right by each eviction.
final class DiskSpace: Sendable {
    let capacity: Int64
    private let folder: CacheFolder
    private let process: UInt64
    private let now: @Sendable () -> CacheInstant
    private let queue = DispatchQueue(label: "deferred.cache.housekeeping", qos: .utility)
    private let state = Lock(State())

    private struct State: Sendable {
        var bytes: Int64 = 0
        var evictedCount = 0
        /// False until the folder was looked through.
        var isCounted = false
        var isEvicting = false
    }

    init(_ folder: CacheFolder, capacity: Int64, process: UInt64, now: @escaping @Sendable () -> CacheInstant) {
        (self.folder, self.capacity, self.process, self.now) = (folder, capacity, process, now)
    }

    /// The bytes, and the number of responses that were removed to make room.
    var counts: StoreCounts {
        var counts = StoreCounts()
        (counts.bytes, counts.evicted) = state.withLock { ($0.bytes, $0.evictedCount) }
        return counts
    }

    /// Adds what was there before, when the folder has been looked through, unless nobody needs that any more.
    func beginCounting() {
        queue.async { [weak self, folder] in
            guard let bytes = Self.countBytes(in: folder, while: { self != nil }) else { return }
            self?.change { state in
                state.bytes += bytes
                state.isCounted = true
            }
        }
    }

    /// The number of files after which the counting lets others go first.
    private static let countingStep = 64

    /// Returns the bytes of all files; `nil` if nobody needs them any more.
    ///
    /// A large folder takes seconds, most of them pauses: without these, the first requests would wait for a processor
    /// where there are few.
    private static func countBytes(in folder: CacheFolder, while isNeeded: () -> Bool) -> Int64? {
        var (bytes, count, goesOn): (Int64, Int, Bool) = (0, 0, true)
        folder.forEachName { name in
            guard goesOn, CacheFileName.kind(of: name) != nil else { return }
            bytes += folder.status(of: name)?.allocated ?? 0
            count += 1
            guard count.isMultiple(of: countingStep) else { return }
            usleep(1_000)
            goesOn = isNeeded()
        }
        return goesOn ? bytes : nil
    }

    /// Notes a body that was stored.
    func add(_ bytes: Int64) { change { $0.bytes += Self.size(bytes) } }

    /// Notes a body that was removed.
    func remove(_ bytes: Int64) { change { $0.bytes = max(0, $0.bytes - Self.size(bytes)) } }

    /// Notes that everything was removed.
    func clear() { change { $0.bytes = 0 } }

    /// The bytes of a body, rounded up to blocks of a disk, and those of its head. An empty body has no file.
    private static func size(_ bytes: Int64) -> Int64 { bytes == 0 ? 0 : (bytes + 4_095) / 4_096 * 4_096 + 4_096 }

    private func change(_ body: (inout State) -> Void) {
        let isFull = state.withLock { state in
            body(&state)
            guard state.isCounted, state.bytes > capacity, !state.isEvicting else { return false }
            state.isEvicting = true
            return true
        }
        if isFull { queue.async { self.evict() } }
    }

    /// Removes responses until nine tenths of the capacity are left: in one process at a time.
    private func evict() {
        var result = (bytes: Int64?.none, count: 0)
        let before = state.withLock { $0.bytes }
        folder.withLock {
            let eviction = Eviction(folder, now: now(), process: process)
            result = (eviction.remove(downTo: capacity / 10 * 9), eviction.removedCount)
        }
        let isChanged = state.withLock { state in
            state.isEvicting = false
            state.evictedCount += result.count
            guard let bytes = result.bytes else { return false }
            // What was stored meanwhile may have been seen or not.
            let stored = max(0, state.bytes - before)
            state.bytes = bytes + stored
            return stored > 0
        }
        if isChanged { change { _ in } }
    }
}
