internal import DeferredNetworking
internal import Foundation

/// A response in memory: one object, behind which its key and its fields are packed, since there may be many.
///
/// SAFETY: what can be set is guarded by the lock of the store, once the entry is in it. Everything else is immutable.
struct MemoryEntry: @unchecked Sendable {
    private struct Contents {
        let facts: StoredHead.Facts
        let fieldCount: UInt16
        /// The numbers of bytes of the fields, and of the key, which is behind them.
        let fieldSize: UInt32
        let keySize: UInt16
        let keyNumber: UInt32
        let body: Data
        var version: UInt64 = 0
        var lastUse: UInt64 = 0
        var next: MemoryEntry?
    }

    private let buffer: ManagedBuffer<Contents, UInt8>

    /// The memory of an entry besides its body and its texts: of the object, the body's own one, and the place in a table.
    private static let overhead = 350

    init(_ key: CacheKey, _ head: StoredHead, _ body: Data) {
        let (parts, headers) = (key.parts, head.headers)
        let texts = [parts.host, parts.path, parts.query, parts.partition]
        let keySize = texts.reduce(0) { $0 + PackedTexts.size(of: $1) }
        let fieldSize = headers.reduce(0) { $0 + PackedTexts.size(of: $1.name) + PackedTexts.size(of: $1.value) }
        buffer = .create(minimumCapacity: fieldSize + keySize) { _ in
            Contents(
                facts: head.facts,
                fieldCount: UInt16(clamping: headers.count),
                fieldSize: UInt32(fieldSize),
                keySize: UInt16(clamping: keySize),
                keyNumber: parts.number,
                body: body
            )
        }
        buffer.withUnsafeMutablePointerToElements { start in
            var packed = PackedTexts(at: start)
            for field in headers {
                packed.append(field.name)
                packed.append(field.value)
            }
            for text in texts { packed.append(text) }
        }
    }

    /// The next of the entries whose keys have the same hash.
    var next: MemoryEntry? {
        get { buffer.header.next }
        nonmutating set { buffer.header.next = newValue }
    }

    var lastUse: UInt64 {
        get { buffer.header.lastUse }
        nonmutating set { buffer.header.lastUse = newValue }
    }

    var version: UInt64 {
        get { buffer.header.version }
        nonmutating set { buffer.header.version = newValue }
    }

    var body: Data { buffer.header.body }
    var variant: Variant { buffer.header.facts.variant }

    /// The memory that the entry takes: an estimate.
    var size: Int64 {
        buffer.withUnsafeMutablePointerToHeader { header in
            let texts = Int(header.pointee.fieldSize) + Int(header.pointee.keySize)
            return Int64(header.pointee.body.count + texts + Self.overhead)
        }
    }

    func isSame(as other: MemoryEntry) -> Bool { buffer === other.buffer }

    func isStored(with key: CacheKey) -> Bool {
        let parts = key.parts
        return buffer.withUnsafeMutablePointers { header, start in
            guard header.pointee.keyNumber == parts.number else { return false }
            var packed = PackedTexts(at: start + Int(header.pointee.fieldSize))
            return packed.nextIs(parts.host) && packed.nextIs(parts.path) && packed.nextIs(parts.query)
                && packed.nextIs(parts.partition)
        }
    }

    /// Returns whether nothing can be done with the response any more: it is stale, and the server can't confirm it.
    func isUseless(at now: CacheInstant) -> Bool {
        buffer.header.facts.staleness(at: now) >= 0 && head.conditions.isEmpty
    }

    var head: StoredHead { Parts(self) }

    var response: StoredResponse {
        let parts = Parts(self)
        return StoredResponse(head: parts, body: parts, version: version)
    }

    /// The head of an entry, whose fields are unpacked when they are asked for; and the body, since one object takes less
    /// time than two.
    ///
    /// SAFETY: reads only those parts of the entry that never change.
    private final class Parts: StoredHead, MemoryBody, @unchecked Sendable {
        private let entry: MemoryEntry
        var bytes: Data { entry.body }

        init(_ entry: MemoryEntry) {
            self.entry = entry
            super.init(entry.buffer.header.facts)
        }

        override var headers: HTTPHeaders { HTTPHeaders(entry.fields(andMore: 0)) }

        override func headers(withAge age: Int64) -> HTTPHeaders {
            var fields = entry.fields(andMore: 1)
            fields.append(HTTPHeaders.Field(name: "Age", value: String(age)))
            return HTTPHeaders(fields)
        }
    }

    /// - Parameter count: The number of fields that the caller will add.
    private func fields(andMore count: Int) -> [HTTPHeaders.Field] {
        buffer.withUnsafeMutablePointers { header, start in
            var packed = PackedTexts(at: start)
            let end = UnsafeMutableRawPointer(start) + Int(header.pointee.fieldSize)
            var fields: [HTTPHeaders.Field] = []
            fields.reserveCapacity(Int(header.pointee.fieldCount) + count)
            while packed.position < end {
                fields.append(HTTPHeaders.Field(name: packed.nextText(), value: packed.nextText()))
            }
            return fields
        }
    }
}
