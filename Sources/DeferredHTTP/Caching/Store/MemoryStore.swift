internal import DeferredCore
internal import Foundation

/// Holds responses in memory.
final class MemoryStore: ResponseStore {
    /// More than that many variants of a resource are hardly asked for again.
    static let variantLimit = 8

    /// SAFETY: `lastUse` is guarded by the store's lock; everything else is immutable.
    fileprivate final class Entry: @unchecked Sendable {
        let response: StoredResponse
        @exclusivity(unchecked) var lastUse: UInt64
        let size: Int64

        init(response: StoredResponse, lastUse: UInt64, size: Int64) {
            (self.response, self.lastUse, self.size) = (response, lastUse, size)
        }
    }

    /// The time by which the staleness of what is to be evicted is found.
    private let now: @Sendable () -> CacheInstant

    fileprivate struct State: Sendable {
        var entries: [CacheKey: [Entry]] = [:]
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
                guard let entries = state.entries[key] else { return [] }
                state.uses += 1
                return entries.map { entry in
                    entry.lastUse = state.uses
                    return entry.response
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
            let response = StoredResponse(head: head, body: MemoryBody(bytes: body), version: state.uses)
            var gone: [Entry] = []
            if let index = state.index(key, head.variant) {
                // A response to a later request is newer, although it came first.
                guard let old = state.entries[key]?[index], !old.response.head.isNewer(than: head) else { return [] }
                gone.append(state.remove(key, index))
            }
            state.entries[key, default: []].append(Entry(response: response, lastUse: state.uses, size: size))
            state.counts.bytes += size
            state.counts.stored += 1
            if let count = state.entries[key]?.count, count > Self.variantLimit {
                gone.append(state.remove(key, 0))
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
            guard !ticket.isVoid,
                let index = state.entries[key]?.firstIndex(where: { $0.response.version == stored.version }),
                let old = state.entries[key]?[index], !old.response.head.isNewer(than: head)
            else { return nil }
            let size = old.size - Self.size(key, old.response.head) + Self.size(key, head)
            state.counts.bytes += size - old.size
            let response = StoredResponse(head: head, body: old.response.body, version: old.response.version)
            state.entries[key]?[index] = Entry(response: response, lastUse: old.lastUse, size: size)
            return old
        }
        withExtendedLifetime(gone) {}
    }

    func remove(_ key: CacheKey, _ stored: StoredResponse?) {
        let gone = state.withLock { state in
            guard let stored else { return state.removeAll(key) }
            let index = state.entries[key]?.firstIndex { $0.response.version == stored.version }
            return index.map { [state.remove(key, $0)] } ?? []
        }
        withExtendedLifetime(gone) {}
    }

    private func remove(_ key: CacheKey, _ variant: Variant) {
        let gone = state.withLock { state in state.index(key, variant).map { state.remove(key, $0) } }
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
    fileprivate func index(_ key: CacheKey, _ variant: Variant) -> Int? {
        entries[key]?.firstIndex { $0.response.head.variant == variant }
    }

    fileprivate mutating func remove(_ key: CacheKey, _ index: Int) -> MemoryStore.Entry {
        guard let entry = entries[key]?.remove(at: index) else { preconditionFailure("no entry \(index) of \(key)") }
        if entries[key]?.isEmpty == true { entries[key] = nil }
        counts.bytes -= entry.size
        return entry
    }

    fileprivate mutating func removeAll(_ key: CacheKey) -> [MemoryStore.Entry] {
        let gone = entries.removeValue(forKey: key) ?? []
        counts.bytes -= gone.reduce(0) { $0 + $1.size }
        return gone
    }

    /// Removes responses until they fit: first those that are of no use any more, then those that were not used for the
    /// longest time.
    fileprivate mutating func evict(to goal: Int64, _ now: CacheInstant) -> [MemoryStore.Entry] {
        let order = entries.flatMap { key, entries in
            entries.map { entry in
                let isUseless = entry.response.head.conditions.isEmpty && entry.response.head.staleness(at: now) >= 0
                return (key: key, version: entry.response.version, isUseless: isUseless, lastUse: entry.lastUse)
            }
        }.sorted { one, other in
            one.isUseless == other.isUseless ? one.lastUse < other.lastUse : one.isUseless
        }
        var gone: [MemoryStore.Entry] = []
        for (key, version, _, _) in order where counts.bytes > goal {
            guard let index = entries[key]?.firstIndex(where: { $0.response.version == version }) else { continue }
            gone.append(remove(key, index))
            counts.evicted += 1
        }
        return gone
    }
}

extension StoredHead {
    /// Returns whether the request was sent after that of another response.
    func isNewer(than other: StoredHead) -> Bool {
        if let own = requestTime.steady, let steady = other.requestTime.steady { return own > steady }
        return requestTime.wall > other.requestTime.wall
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
