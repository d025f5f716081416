public import DeferredCore
public import DeferredHTTP
public import Foundation

extension Cache {
    /// Describes a stored response.
    public struct Entry: Sendable {
        /// The URL, without user, password and fragment.
        public let url: URL
        /// The ``DeferredHTTP/HTTPRequest/cachePartition`` of the request.
        public let partition: String?
        /// The status of the response.
        public let status: HTTPStatus
        /// The fields of the response, without `Age`.
        public let headers: HTTPHeaders
        /// The time since the server has made or confirmed the response.
        public let age: Duration
        /// True if the server has to be asked before the response is used.
        public let isStale: Bool
        /// The number of bytes of the body that are stored.
        public let byteCount: Int64

        init?(_ key: CacheKey, _ head: StoredHead, now: CacheInstant) {
            guard let url = key.url else { return nil }
            self.url = url
            partition = key.partition
            status = head.status
            headers = head.headers
            byteCount = head.extent.count
            age = .milliseconds(head.age(at: now))
            isStale = head.staleness(at: now) >= 0 || head.directives.flags.contains(.noCache)
        }
    }

    /// Returns what is stored.
    ///
    /// - Parameter isIncluded: Selects entries: by URL, by partition, by age. Called on an internal thread; of
    ///   a cache in memory, on this one, before the method returns.
    /// - Returns: A future of the entries, in no particular order. On disk, that reads the heads of all responses.
    public func entries(where isIncluded: @escaping @Sendable (Entry) -> Bool = { _ in true }) -> Future<[Entry]> {
        let found = Lock<[Entry]>([])
        let end = Deferred<[Entry]>()
        sweep { entry in
            if isIncluded(entry) { found.withLock { $0.append(entry) } }
            return false
        } end: {
            end.fill(with: found.withLock { $0 })
        }
        return end.future
    }

    /// Removes some of the stored responses; those that are on their way are stored when they arrive.
    ///
    /// ```swift
    /// cache.remove { $0.partition == "alice" }
    /// ```
    ///
    /// - Parameter isGone: Selects the entries to remove. Called on an internal thread; of a cache in memory, on this
    ///   one, before the method returns.
    /// - Returns: A future that is filled when they are removed. On disk, that reads the heads of all responses.
    @discardableResult
    public func remove(where isGone: @escaping @Sendable (Entry) -> Bool) -> Future<Void> {
        let end = Deferred<Void>()
        sweep(andUnreadable: true, isGone) { end.fill() }
        return end.future
    }
}
