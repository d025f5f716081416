internal import DeferredCore
internal import Foundation

/// Holds responses in memory.
final class MemoryStore: ResponseStore {
    /// More than that many variants of a resource are hardly asked for again.
    static let variantLimit = 8

    /// A response with what the store knows of it: one object, since there may be many.
    ///
    /// SAFETY: `lastUse` is guarded by the store's lock; everything else is immutable.
    fileprivate final class Entry: StoredResponse, @unchecked Sendable {
        @exclusivity(unchecked) var lastUse: UInt64
        let size: Int64

        init(_ head: StoredHead, _ body: any StoredBody, version: UInt64, lastUse: UInt64, size: Int64) {
            (self.lastUse, self.size) = (lastUse, size)
            super.init(head: head, body: body, version: version)
        }
    }

    /// The responses of a key, hardly ever more than one, which takes no array then.
    fileprivate enum Variants: Sendable {
        case one(Entry)
        case several([Entry])

        init?(_ entries: [Entry]) {
            if entries.isEmpty { return nil }
            self = entries.count == 1 ? .one(entries[0]) : .several(entries)
        }

        var all: [Entry] {
            switch self {
            case .one(let entry): [entry]
            case .several(let entries): entries
            }
        }
    }

    /// The time by which the staleness of what is to be evicted is found.
    private let now: @Sendable () -> CacheInstant

    fileprivate struct State: Sendable {
        var entries: [CacheKey: Variants] = [:]
        var counts = StoreCounts()
        var uses: UInt64 = 0
    }

    let salt: [UInt8] = (0..<16).map { _ in .random(in: 0...255) }
    private let capacity: Int64
    private let state = Lock(State())

    init(capacity: Int, now: @escaping @Sendable () -> CacheInstant) {
        self.capacity = Int64(max(0, capacity))
        self.now = now
    }

    let isBlocking = false

    var bodyLimit: Int64 { capacity / 8 }

    var counts: StoreCounts { state.withLock { $0.counts } }

    func find(_ key: CacheKey, _ body: @escaping @Sendable ([StoredResponse]) -> Void) {
        body(
            state.withLock { state in
                guard let variants = state.entries[key] else { return [] }
                state.uses += 1
                switch variants {
                case .one(let entry):
                    entry.lastUse = state.uses
                    return [entry]
                case .several(let entries):
                    for entry in entries { entry.lastUse = state.uses }
                    return entries
                }
            }
        )
    }

    func put(_ key: CacheKey, _ head: StoredHead, _ body: Data, _ ticket: ExchangeTicket) {
        let size = Int64(body.count) + Self.size(key, head)
        guard size <= bodyLimit else { return remove(key, head.variant) }
        let now = now()
        let gone = state.withLock { state -> [Entry] in
            guard !ticket.isVoid else { return [] }
            state.uses += 1
            var gone: [Entry] = []
            if let old = state.first(key, where: { $0.head.variant == head.variant }) {
                guard head.mayReplace(old.head) else { return [] }
                state.remove(key, old)
                gone.append(old)
            }
            let body = MemoryBody(bytes: body)
            state.add(key, Entry(head, body, version: state.uses, lastUse: state.uses, size: size))
            state.counts.stored += 1
            if let all = state.entries[key]?.all, all.count > Self.variantLimit {
                state.remove(key, all[0])
                gone.append(all[0])
                state.counts.evicted += 1
            }
            if state.counts.bytes > capacity { gone += state.evict(to: capacity / 10 * 9, now) }
            return gone
        }
        withExtendedLifetime(gone) {}
    }

    func writer(_ key: CacheKey, _ head: StoredHead, _ ticket: ExchangeTicket) -> (any BodyWriter)? {
        guard head.extent.count <= bodyLimit else { return nil }
        return MemoryWriter(limit: bodyLimit) { head, bytes in self.put(key, head, bytes, ticket) }
    }

    func update(_ key: CacheKey, _ stored: StoredResponse, _ head: StoredHead, _ ticket: ExchangeTicket) {
        let gone = state.withLock { state -> Entry? in
            guard !ticket.isVoid, let old = state.first(key, where: { $0.version == stored.version }),
                !old.head.isNewer(than: head)
            else { return nil }
            let size = old.size - Self.size(key, old.head) + Self.size(key, head)
            state.remove(key, old)
            state.add(key, Entry(head, old.body, version: old.version, lastUse: old.lastUse, size: size))
            return old
        }
        withExtendedLifetime(gone) {}
    }

    func remove(_ key: CacheKey, _ stored: StoredResponse?) {
        let gone = state.withLock { state in
            let gone = state.entries[key]?.all.filter { stored == nil || $0.version == stored?.version } ?? []
            for entry in gone { state.remove(key, entry) }
            return gone
        }
        withExtendedLifetime(gone) {}
    }

    private func remove(_ key: CacheKey, _ variant: Variant) {
        let gone = state.withLock { state in
            let entry = state.first(key) { $0.head.variant == variant }
            if let entry { state.remove(key, entry) }
            return entry
        }
        withExtendedLifetime(gone) {}
    }

    func removeDamaged(_ key: CacheKey, _ stored: StoredResponse) { remove(key, stored) }

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

    /// The memory of a response besides its body: an estimate.
    private static func size(_ key: CacheKey, _ head: StoredHead) -> Int64 {
        let fields = head.headers.fields.reduce(0) { $0 + $1.name.utf8.count + $1.value.utf8.count + 64 }
        return Int64(key.text.utf8.count + fields + 400)
    }
}

extension MemoryStore.State {
    fileprivate func first(_ key: CacheKey, where isIt: (MemoryStore.Entry) -> Bool) -> MemoryStore.Entry? {
        entries[key]?.all.first(where: isIt)
    }

    fileprivate mutating func add(_ key: CacheKey, _ entry: MemoryStore.Entry) {
        entries[key] = MemoryStore.Variants((entries[key]?.all ?? []) + [entry])
        counts.bytes += entry.size
    }

    /// The caller keeps the entry until the lock is released.
    fileprivate mutating func remove(_ key: CacheKey, _ entry: MemoryStore.Entry) {
        entries[key] = MemoryStore.Variants((entries[key]?.all ?? []).filter { $0 !== entry })
        counts.bytes -= entry.size
    }

    /// Removes responses until they fit: first those that are of no use any more, then those that were not used for the
    /// longest time.
    fileprivate mutating func evict(to goal: Int64, _ now: CacheInstant) -> [MemoryStore.Entry] {
        let order = entries.flatMap { key, variants in
            variants.all.map { entry in
                let isUseless = entry.head.staleness(at: now) >= 0 && entry.head.conditions.isEmpty
                return (key: key, entry: entry, isUseless: isUseless)
            }
        }.sorted { one, other in
            one.isUseless == other.isUseless ? one.entry.lastUse < other.entry.lastUse : one.isUseless
        }
        var gone: [MemoryStore.Entry] = []
        for (key, entry, _) in order where counts.bytes > goal {
            remove(key, entry)
            gone.append(entry)
            counts.evicted += 1
        }
        return gone
    }
}

/// A body in memory.
struct MemoryBody: StoredBody {
    let bytes: Data

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
        (self.limit, self.store) = (limit, store)
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

    func discard() { bytes.withLock { $0 = Data() } }
}
