internal import Foundation

/// A stored response.
final class StoredResponse: Sendable {
    let head: StoredHead
    let body: any StoredBody
    /// Distinguishes this body from others that are or were stored with the same key and variant.
    let version: UInt64

    init(head: StoredHead, body: any StoredBody, version: UInt64) {
        self.head = head
        self.body = body
        self.version = version
    }
}

/// The bytes of a stored response, which stay readable when the response is no longer stored.
protocol StoredBody: AnyObject, Sendable {
    /// Calls `body` with some of the bytes, all of which are checked, or with `nil` if they are damaged. May call it on
    /// another thread, and before it returns.
    ///
    /// - Parameter range: Positions in the stored bytes.
    func read(_ range: Range<Int64>, _ body: @escaping @Sendable (Data?) -> Void)

    /// All bytes, if they are in memory.
    var bytesInMemory: Data? { get }

    /// Makes `file` a copy of all bytes.
    func copy(to file: URL, _ body: @escaping @Sendable (CopyEnd) -> Void)
}

/// The bytes that were stored of a body can't be read again as they were.
struct DamagedBody: Error, CustomStringConvertible {
    var description: String { "the stored response is damaged" }
}

/// The end of copying a stored body.
enum CopyEnd: Sendable {
    case copied
    /// The stored bytes are damaged or missing.
    case damaged
    /// The destination can't be written; nothing is wrong with what is stored.
    case unwritable
}

/// Keeps the body of a response that arrives in pieces. Used by one caller at a time.
protocol BodyWriter: Sendable {
    /// Adds bytes; returns false if they can't be stored, after which nothing more is added.
    func append(_ bytes: Data) -> Bool

    /// Returns bytes that were added, also after ``discard()``; `nil` if they are damaged.
    func read(_ range: Range<Int64>) -> Data?

    /// Stores the response with the bytes that were added.
    func commit(_ head: StoredHead)

    /// Gives the bytes up.
    func discard()
}

/// Holds responses: in memory or on disk.
///
/// Calls take effect in the order in which they are made.
protocol ResponseStore: Sendable {
    /// Random bytes by which hashes of request fields differ from those of other stores.
    var salt: [UInt8] { get }

    /// The largest body that is stored, in bytes.
    var bodyLimit: Int64 { get }

    /// Calls `body` with the responses that are stored with a key: in memory, before it returns.
    func find(_ key: CacheKey, _ body: @escaping @Sendable ([StoredResponse]) -> Void)

    /// Stores a response in place of those that it supersedes, unless `ticket` is void by then.
    func put(_ key: CacheKey, _ head: StoredHead, _ body: Data, _ ticket: FetchTicket)

    /// Returns a writer for a response whose body arrives in pieces; `nil` if there is no place for it.
    func writer(_ key: CacheKey, _ head: StoredHead, _ ticket: FetchTicket) -> (any BodyWriter)?

    /// Replaces the head of a stored response, if it is still the same one.
    func update(_ key: CacheKey, _ stored: StoredResponse, _ head: StoredHead, _ ticket: FetchTicket)

    /// Returns a number that is another one when ``invalidate(_:)`` was called for the key since, in any process.
    func mark(of key: CacheKey) -> UInt64

    /// Removes the responses with a key, also those that other processes are about to store.
    func invalidate(_ key: CacheKey)

    /// Removes some of the responses with a key.
    func remove(_ key: CacheKey, where isGone: @escaping @Sendable (StoredHead) -> Bool)

    /// Calls `isGone` with each stored response, removes those for which it returns true, and then calls `end`. May do so
    /// on another thread.
    ///
    /// - Parameter removesUnreadable: Whether those are not used again either that can't be read now.
    func sweep(
        andUnreadable removesUnreadable: Bool,
        _ isGone: @escaping @Sendable (CacheKey, StoredHead) -> Bool,
        _ end: @escaping @Sendable () -> Void
    )

    /// Removes the response because its bytes are damaged.
    func removeDamaged(_ key: CacheKey, _ stored: StoredResponse)

    /// Removes everything, and calls `body` when that is done.
    func removeAll(_ body: @escaping @Sendable () -> Void)

    /// Calls `body` when everything is stored that was given before.
    func flush(_ body: @escaping @Sendable () -> Void)

    /// True if ``find(_:_:)`` and reading take longer than a caller may be held up, and are done elsewhere.
    var isBlocking: Bool { get }

    /// The counters of what is stored; the others are 0.
    var counts: Cache.Statistics { get }

    var health: HealthMonitor { get }
}
