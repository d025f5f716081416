internal import DeferredCore

/// The small responses of a folder that were asked for lately, in memory.
///
/// They are used as long as the head file is still the one that they were read from: to look at its status takes a tenth of
/// the time of reading it, and sees what other processes have changed.
final class DiskFront: Sendable {
    /// Bodies up to this size are one block, so that any use of them reads all of it.
    static let bodyLimit = DiskBody.blockSize

    /// The responses of one head file.
    struct Entry: Sendable {
        /// The name of the head file.
        let name: String
        /// The file that had the name.
        let file: CacheFolder.Status.Identity
        let head: HeadFile
        let responses: [StoredResponse]

        /// An estimate of the memory that it takes.
        fileprivate var size: Int64 { responses.reduce(0) { $0 + $1.head.extent.count + 1_000 } }
    }

    private struct Slot: Sendable {
        let entry: Entry
        var lastUse: UInt64
    }

    private struct State: Sendable {
        var slots: [CacheKey: Slot] = [:]
        var size: Int64 = 0
        var uses: UInt64 = 0

        mutating func remove(_ key: CacheKey) -> Slot? {
            let gone = slots.removeValue(forKey: key)
            size -= gone?.entry.size ?? 0
            return gone
        }
    }

    private let capacity: Int64
    private let state = Lock(State())

    init(capacity: Int64) { self.capacity = capacity }

    func find(_ key: CacheKey) -> Entry? {
        state.withLock { state in
            guard let entry = state.slots[key]?.entry else { return nil }
            state.uses += 1
            state.slots[key]?.lastUse = state.uses
            return entry
        }
    }

    /// Keeps an entry, unless a body is too large.
    func put(_ key: CacheKey, _ entry: Entry) {
        guard entry.responses.allSatisfy({ $0.head.extent.count <= Self.bodyLimit }) else { return }
        let gone = state.withLock { state in
            state.uses += 1
            var gone = [state.remove(key)]
            state.slots[key] = Slot(entry: entry, lastUse: state.uses)
            state.size += entry.size
            guard state.size > capacity else { return gone }
            // To three quarters, so that it is not done each time.
            for (key, _) in state.slots.sorted(by: { $0.value.lastUse < $1.value.lastUse })
            where state.size > capacity / 4 * 3 {
                gone.append(state.remove(key))
            }
            return gone
        }
        withExtendedLifetime(gone) {}
    }

    func remove(_ key: CacheKey) {
        let gone = state.withLock { $0.remove(key) }
        withExtendedLifetime(gone) {}
    }

    func removeAll() {
        let gone = state.withLock { state in
            defer { state = State() }
            return state.slots
        }
        withExtendedLifetime(gone) {}
    }
}
