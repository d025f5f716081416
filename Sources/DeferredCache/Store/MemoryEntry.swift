internal import DeferredNetworking
internal import Foundation

/// A response in memory.
///
/// One object with all but the body and the texts, since there may be many.
///
/// SAFETY: what can be set is guarded by the lock of the store, once the entry is in it. Everything else is immutable.
final class MemoryEntry: @unchecked Sendable {
    let key: CacheKey
    let body: Data
    private let facts: StoredHead.Facts
    /// The names and the values of the fields, a line each: an array of short texts would take three times as much.
    private let lines: String

    /// Distinguishes this entry from others with the same key and variant; 0 until it is in the store.
    @exclusivity(unchecked) var version: UInt64 = 0
    @exclusivity(unchecked) var lastUse: UInt64 = 0
    /// The next of the entries whose keys have the same hash.
    @exclusivity(unchecked) var next: MemoryEntry?

    /// The memory of an entry besides its body and its texts: of the object, the body's own one, and the place in a table.
    private static let overhead = 420

    init(_ key: CacheKey, _ head: StoredHead, _ body: Data) {
        self.key = key
        self.body = body
        facts = head.facts
        let lines = head.headers.fields.map { $0.name + "\n" + $0.value }.joined(separator: "\n")
        // What has grown piece by piece may take twice as much as it needs.
        self.lines = String(decoding: lines.utf8, as: UTF8.self)
    }

    var variant: Variant { facts.variant }

    /// The memory that the entry takes: an estimate.
    var size: Int64 { Int64(body.count + lines.utf8.count + key.target.utf8.count + Self.overhead) }

    /// Returns whether nothing can be done with the response any more: it is stale, and the server can't confirm it.
    func isUseless(at now: CacheInstant) -> Bool { facts.staleness(at: now) >= 0 && head.conditions.isEmpty }

    var head: StoredHead {
        // A line break is one byte, which no field of a response has.
        let lines = lines.utf8.split(separator: UInt8(ascii: "\n"), omittingEmptySubsequences: false)
        let fields = stride(from: 0, to: lines.count - 1, by: 2).map { index in
            HTTPHeaders.Field(name: String(Substring(lines[index])), value: String(Substring(lines[index + 1])))
        }
        return StoredHead(facts, HTTPHeaders(fields))
    }

    var response: StoredResponse { StoredResponse(head: head, body: BodyBytes(body), version: version) }
}
