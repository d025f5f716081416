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
    /// The name and the value of each field, with a line break behind each: an array of short texts would take three times as
    /// much. A line break is one byte, which no field of a response has.
    private let lines: String

    /// The response once it was asked for, since it is likely to be again. Most never are, and take half the memory.
    private var madeResponse: StoredResponse?

    /// Distinguishes this entry from others with the same key and variant; 0 until it is in the store.
    var version: UInt64 = 0
    var lastUse: UInt64 = 0
    /// The next of the entries whose keys have the same hash.
    var next: MemoryEntry?

    /// The memory of an entry besides its body and its texts: of the object, the body's own one, and the place in a table.
    private static let overhead = 420

    init(_ key: CacheKey, _ head: StoredHead, _ body: Data) {
        self.key = key
        self.body = body
        facts = head.facts
        let lines = head.headers.fields.map { "\($0.name)\n\($0.value)\n" }.joined()
        // What has grown piece by piece may take twice as much as it needs.
        self.lines = String(decoding: lines.utf8, as: UTF8.self)
    }

    var variant: Variant { facts.variant }

    /// The memory that the entry takes: an estimate, which is greater once the response was asked for.
    var size: Int64 {
        let texts = lines.utf8.count + key.target.utf8.count + Self.overhead
        return Int64(body.count + (madeResponse == nil ? texts : texts * 2))
    }

    /// Returns whether nothing can be done with the response any more: it is stale, and the server can't confirm it.
    func isUseless(at now: CacheInstant) -> Bool { facts.staleness(at: now) >= 0 && head.conditions.isEmpty }

    var head: StoredHead { StoredHead(facts, HTTPHeaders(fields)) }

    private var fields: [HTTPHeaders.Field] {
        var (lines, fields, name) = (lines, [HTTPHeaders.Field](), String?.none)
        fields.reserveCapacity(8)
        lines.withUTF8 { bytes in
            var start = 0
            for end in bytes.indices where bytes[end] == UInt8(ascii: "\n") {
                let text = String(decoding: bytes[start..<end], as: UTF8.self)
                if let name = name.take() { fields.append(.init(name: name, value: text)) } else { name = text }
                start = end + 1
            }
        }
        return fields
    }

    var response: StoredResponse {
        if let madeResponse { return madeResponse }
        let made = StoredResponse(head: head, body: BodyBytes(body), version: version)
        madeResponse = made
        return made
    }
}
