internal import DeferredCore
internal import Foundation

/// Holds responses in memory.
final class MemoryStore: ResponseStore {
    /// More than that many variants of a resource are hardly asked for again.
    static let variantLimit = 8

    /// A larger body is not copied to save memory.
    private static let copyLimit = 1 << 16

    /// The time by which the staleness of what is to be evicted is found.
    private let now: @Sendable () -> CacheInstant

    fileprivate struct State: Sendable {
        /// The entries by the hashes of their keys: each has its key, and hardly any hash has two.
        var entries: [Int: MemoryEntry] = [:]
        var counts = Cache.Statistics()
        var uses: UInt64 = 0
    }

    let salt: [UInt8] = (0..<16).map { _ in .random(in: 0...255) }
    private let capacity: Int64
    private let state = Lock(State())

    init(capacity: Int, now: @escaping @Sendable () -> CacheInstant) {
        self.capacity = Int64(max(0, capacity))
        self.now = now
        health = HealthMonitor(now: now)
    }

    let isBlocking = false
    let health: HealthMonitor

    var bodyLimit: Int64 { capacity / 8 }

    var counts: Cache.Statistics { state.withLock { $0.counts } }

    func find(_ key: CacheKey, _ body: @escaping @Sendable ([StoredResponse]) -> Void) {
        let (found, isFull) = state.withLock { state in (state.find(key), state.counts.bytes > capacity) }
        if isFull { makeRoom() }
        body(found)
    }

    func put(_ key: CacheKey, _ head: StoredHead, _ body: Data, _ ticket: FetchTicket) {
        // What has grown piece by piece may take a quarter more than it needs.
        let entry = MemoryEntry(key, head, body.count > Self.copyLimit ? body : body.withUnsafeBytes { Data($0) })
        let now = now()
        let (gone, isFull) = state.withLock { state -> ([MemoryEntry], Bool) in
            let isNewest = ticket.allows(head)
            let superseded = state.all(key).map { ($0, $0.head) }.filter { head.supersedes($0.1, ticket) }
            var gone = superseded.filter { head.outlives($0.1, ticket, isNewest: isNewest, now: now) }.map(\.0)
            // They are outdated, also if there is no place for this one, or a newer one is known.
            for old in gone { state.remove(old) }
            guard isNewest, entry.size <= bodyLimit, gone.count == superseded.count else {
                return (gone, false)
            }
            state.uses += 1
            (entry.version, entry.lastUse) = (state.uses, state.uses)
            state.add(entry)
            state.counts.stored += 1
            let all = state.all(key)
            if all.count > Self.variantLimit, let oldest = all.last {
                state.remove(oldest)
                gone.append(oldest)
                state.counts.evicted += 1
            }
            return (gone, state.counts.bytes > capacity)
        }
        withExtendedLifetime(gone) {}
        if isFull { makeRoom() }
    }

    private func makeRoom() {
        let now = now()
        let gone = state.withLock { $0.evict(to: capacity / 10 * 9, now) }
        withExtendedLifetime(gone) {}
    }

    func writer(_ key: CacheKey, _ head: StoredHead, _ ticket: FetchTicket) -> (any BodyWriter)? {
        guard max(head.extent.count, head.announcedLength ?? 0) <= bodyLimit else { return nil }
        return MemoryWriter(limit: bodyLimit) { head, bytes in self.put(key, head, bytes, ticket) }
    }

    func update(_ key: CacheKey, _ stored: StoredResponse, _ head: StoredHead, _ ticket: FetchTicket) {
        let now = now()
        let gone = state.withLock { state -> [MemoryEntry] in
            guard ticket.allows(head), let old = state.all(key).first(where: { $0.version == stored.version }),
                !old.head.isNewer(than: head, now: now)
            else { return [] }
            let entry = MemoryEntry(key, head, old.body)
            (entry.version, entry.lastUse) = (old.version, old.lastUse)
            let gone = state.all(key).filter { $0 === old || head.outlives($0.head, ticket, isNewest: true, now: now) }
            for entry in gone { state.remove(entry) }
            state.add(entry)
            return gone
        }
        withExtendedLifetime(gone) {}
    }

    func mark(of key: CacheKey) -> UInt64 { 0 }

    func invalidate(_ key: CacheKey) { remove(key, where: { _ in true }) }

    func remove(_ key: CacheKey, where isGone: @escaping @Sendable (StoredHead) -> Bool) {
        remove(key) { isGone($0.head) }
    }

    private func remove(_ key: CacheKey, entries isGone: (MemoryEntry) -> Bool) {
        let gone = state.withLock { state in
            let gone = state.all(key).filter(isGone)
            for entry in gone { state.remove(entry) }
            return gone
        }
        withExtendedLifetime(gone) {}
    }

    func sweep(
        andUnreadable _: Bool,
        _ isGone: @escaping @Sendable (CacheKey, StoredHead) -> Bool,
        _ end: @escaping @Sendable () -> Void
    ) {
        let all = state.withLock { state in state.allEntries.map { ($0, $0.version) } }
        for (entry, version) in all where isGone(entry.key, entry.head) {
            remove(entry.key, entries: { $0.version == version })
        }
        end()
    }

    func removeDamaged(_ key: CacheKey, _ stored: StoredResponse) {
        remove(key, entries: { $0.version == stored.version })
    }

    func flush(_ body: @escaping @Sendable () -> Void) { body() }

    func removeAll(_ body: @escaping @Sendable () -> Void) {
        let gone = state.withLock { state in
            state.counts.bytes = 0
            defer { state.entries = [:] }
            return state.entries
        }
        withExtendedLifetime(gone) {}
        body()
    }
}

extension MemoryStore.State {
    fileprivate var allEntries: [MemoryEntry] { entries.values.flatMap { sequence(first: $0, next: \.next) } }

    /// Returns the responses of a key, the newest first.
    fileprivate func all(_ key: CacheKey) -> [MemoryEntry] {
        guard let first = entries[key.hashValue] else { return [] }
        return sequence(first: first, next: \.next).filter { $0.key == key }
    }

    /// Returns the responses of a key, the newest last, and notes that they are used.
    fileprivate mutating func find(_ key: CacheKey) -> [StoredResponse] {
        uses += 1
        var found: [StoredResponse] = []
        var next = entries[key.hashValue]
        while let entry = next {
            if entry.key == key {
                entry.lastUse = uses
                counts.bytes -= entry.size
                found.append(entry.response)
                counts.bytes += entry.size
            }
            next = entry.next
        }
        found.reverse()
        return found
    }

    fileprivate mutating func add(_ entry: MemoryEntry) {
        entry.next = entries.updateValue(entry, forKey: entry.key.hashValue)
        counts.bytes += entry.size
    }

    /// The caller keeps the entry until the lock is released.
    fileprivate mutating func remove(_ entry: MemoryEntry) {
        let hash = entry.key.hashValue
        if let first = entries[hash], first !== entry {
            var previous = first
            while let next = previous.next, next !== entry { previous = next }
            previous.next = entry.next
        } else {
            entries[hash] = entry.next
        }
        entry.next = nil
        counts.bytes -= entry.size
    }

    /// Removes responses until they fit: first those that are of no use any more, then those that were not used for the
    /// longest time.
    fileprivate mutating func evict(to goal: Int64, _ now: CacheInstant) -> [MemoryEntry] {
        var order = allEntries.map { (entry: $0, isUseless: $0.isUseless(at: now)) }
        order.sort { one, other in
            one.isUseless == other.isUseless ? one.entry.lastUse < other.entry.lastUse : one.isUseless
        }
        var gone: [MemoryEntry] = []
        for (entry, _) in order where counts.bytes > goal {
            remove(entry)
            gone.append(entry)
            counts.evicted += 1
        }
        return gone
    }
}

/// A body in memory.
final class BodyBytes: StoredBody {
    private let bytes: Data
    init(_ bytes: Data) { self.bytes = bytes }

    var bytesInMemory: Data? { bytes }

    func read(_ range: Range<Int64>, _ body: @escaping @Sendable (Data?) -> Void) {
        if range == 0..<Int64(bytes.count) { return body(bytes) }
        let start = bytes.startIndex
        body(Data(bytes[(start + Int(range.lowerBound))..<(start + Int(range.upperBound))]))
    }

    func copy(to file: URL, _ body: @escaping @Sendable (CopyEnd) -> Void) {
        body((try? bytes.write(to: file, options: .atomic)) != nil ? .copied : .unwritable)
    }
}

/// Gathers a body in memory.
private final class MemoryWriter: BodyWriter {
    private let limit: Int64
    private let bytes = Lock(Data())
    private let store: @Sendable (StoredHead, Data) -> Void

    init(limit: Int64, _ store: @escaping @Sendable (StoredHead, Data) -> Void) {
        self.limit = limit
        self.store = store
    }

    func append(_ more: Data) -> Bool {
        bytes.withLock { bytes in
            guard Int64(bytes.count + more.count) <= limit else { return false }
            bytes += more
            return true
        }
    }

    func read(_ range: Range<Int64>) -> Data? {
        bytes.withLock { $0.subdata(in: Int(range.lowerBound)..<Int(range.upperBound)) }
    }

    func commit(_ head: StoredHead) { store(head, bytes.withLock { $0 }) }

    /// The bytes go with the writer: slower readers of a body that broke off still read them.
    func discard() {}
}
