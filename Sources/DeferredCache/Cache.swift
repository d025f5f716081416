public import DeferredCore
public import DeferredHTTP
internal import DeferredTask
public import Foundation

/// Answers requests from responses that are stored, as RFC 9111 and RFC 5861 allow a private cache to.
///
/// ```swift
/// let cache = Cache(.memory(capacity: 32 << 20))
/// let chain = Validate() --> cache --> Retry() --> URLSessionLoader()
/// let response = try await chain.load(request).get()
/// response.source  // .network, .cache(age: 12 s, isStale: false) or .validated(age: 0 s)
/// ```
///
/// A stored response is used while it is fresh. After that, the server is asked whether it is still right, and only a
/// changed body is transferred again. ``DeferredHTTP/HTTPRequest/cachePolicy`` and the `Cache-Control` of a request
/// change that for one request. Requests that change something, such as a `PUT`, remove what is stored for their URL.
///
/// Equal requests in flight are sent once. With `stale-while-revalidate`, a stale response is the answer while the
/// server is asked in the background.
///
/// **Place in the chain:** after ``DeferredHTTP/Validate``, and after everything that adds fields which change the
/// response: ``DeferredHTTP/ApplyEnvironment``, credentials, a language. Before ``DeferredHTTP/Deduplicate``,
/// ``DeferredHTTP/Retry`` and ``DeferredHTTP/Throttle``. A response to a request to which a later loader adds a
/// credential, or another field that the response's `Vary` names, is not stored, since the cache could give it to
/// somebody else. One that arrives from another URL, after a redirect, is not stored either.
///
/// **Cancelling** a request cancels what was sent for it; of those that wait for it, the first is sent in its place.
///
/// **Lifetime:** copies share the stored responses. ``reset()`` cancels the requests in the background, waits for their
/// end, and removes all responses. **Thread safety:** all members can be used from any thread.
public struct Cache: HTTPLink {
    private let core: CacheCore

    /// The place where responses are stored.
    public struct Storage: Sendable {
        let makeStore: @Sendable (_ now: @escaping @Sendable () -> CacheInstant) -> any ResponseStore

        /// Stores responses in memory, until the last copy of the cache is released.
        ///
        /// - Parameter capacity: The number of bytes of all responses. One response may have an eighth of that. When it
        ///   is exceeded, responses are removed until nine tenths are left: first those that are of no use any more, and
        ///   then those that were not used for the longest time.
        public static func memory(capacity: Int = 32 << 20) -> Storage {
            Storage { MemoryStore(capacity: capacity, now: $0) }
        }

        /// Stores responses in a folder, which several processes can share, and from which a later process goes on.
        ///
        /// Only the user may access the folder and its files. URLs and the fields of responses are in them in clear; of
        /// requests, there are only salted hashes. What was cut short or damaged, by the end of a process or of the
        /// power, is found by its checksum, and counts as not stored. When the disk is full or can't be written,
        /// requests go on without being stored, and ``Cache/health`` tells why. A folder that was removed is made again.
        ///
        /// - Parameters:
        ///   - folder: A folder for this purpose alone. It is created if need be. While it is a symbolic link, or belongs to
        ///     another user, nothing is stored.
        ///   - capacity: The number of bytes on disk, kept as for ``memory(capacity:)``.
        ///   - keeps: The part of responses that is stored.
        public static func disk(
            at folder: URL,
            capacity: Int = 256 << 20,
            keeps: Contents = .everything
        ) -> Storage {
            Storage { now in
                DiskStore(folder.path, capacity: Int64(capacity), keepsCookies: keeps == .everything, now: now)
            }
        }

        /// The part of responses that is stored on disk.
        public enum Contents: Sendable, Hashable {
            /// All that may be stored.
            case everything

            /// All but the fields that set cookies.
            case withoutCookies
        }
    }

    /// Creates a cache.
    ///
    /// - Parameters:
    ///   - storage: The place where responses are stored.
    ///   - servesStaleOnError: Whether a stale response is the answer when the server can't be reached or has an error of
    ///     its own (500, 502, 503, 504), although the response's `stale-if-error` doesn't say so. Never for responses
    ///     that forbid it, and never after a cancellation or an error of TLS.
    ///   - clearsSiteData: Whether a response with `Clear-Site-Data: "cache"`, or with `"*"`, removes all responses of its
    ///     origin in the request's partition, as browsers do: <https://www.w3.org/TR/clear-site-data/>. Only over `https`,
    ///     and from this machine. What other processes have on its way may still be stored.
    ///   - statusName: The name under which responses tell what the cache has done with their requests, in a member of the
    ///     field `Cache-Status` (RFC 9211), for logs: `app; hit; ttl=57`, `app; fwd=stale; fwd-status=304`,
    ///     `app; fwd=uri-miss; stored`. A body that is still on its way counts as stored. By default, there is none. Requests
    ///     that the cache passes on untouched have none either.
    ///   - onHealthChange: Called whenever storing begins to fail, or works again, on an internal thread that it must not
    ///     block, and without a lock, so that it may use the cache; at once if the folder can't be opened.
    ///   - now: The wall clock, which `Date` and `Expires` refer to.
    ///   - clock: A clock that can't be set, by which ages are measured within the process.
    public init(
        _ storage: Storage,
        servesStaleOnError: Bool = false,
        clearsSiteData: Bool = true,
        statusName: String? = nil,
        onHealthChange: (@Sendable (Health) -> Void)? = nil,
        now: @escaping @Sendable () -> Date = { Date() },
        clock: any Clock<Duration> = ContinuousClock()
    ) {
        let stopwatch = Stopwatch(clock)
        let instant: @Sendable () -> CacheInstant = {
            CacheInstant(wall: now(), steady: stopwatch.elapsed)
        }
        core = CacheCore(
            storage.makeStore(instant),
            servesErrors: servesStaleOnError,
            clearsSiteData: clearsSiteData,
            statusName: statusName,
            now: instant,
            clock: clock
        )
        if let onHealthChange { core.store.health.observe(onHealthChange) }
    }

    /// Answers the request, or passes it on.
    public func load(_ task: HTTPTask, next: any HTTPLoader) {
        load(task, next, for: nil)
    }

    /// - Parameter caller: Stands for the client's task; `nil` if the request comes from a chain.
    func load(_ task: HTTPTask, _ next: any HTTPLoader, for caller: ProgressReporter?) {
        if task.failIfCancelled() { return }
        core.load(task, next, caller)
    }

    /// Waits until all responses are stored whose bodies have been read to their ends, and all removals are done that have
    /// begun.
    ///
    /// For a program that ends: what a cache on disk has received is written a moment after it is delivered.
    ///
    /// - Returns: A future that is filled when they are on disk, as far as there is room; at once for a cache in memory.
    public func flush() -> Future<Void> { core.flush() }

    /// Cancels the requests in the background, waits for their end, and removes all responses. One that ignores its
    /// cancellation is waited for five seconds, and one that itself resets the chain not at all.
    public func reset() -> Future<Void> {
        core.reset()
    }

    /// Removes all responses.
    ///
    /// Responses to requests that were sent before are not stored when they arrive.
    ///
    /// - Returns: A future that is filled when nothing is stored any more.
    @discardableResult
    public func removeAll() -> Future<Void> { core.removeAll() }

    /// Removes the responses of a URL, and those that are on their way.
    ///
    /// - Parameters:
    ///   - url: Compared with the URL of requests, without user, password and fragment.
    ///   - partition: The ``DeferredHTTP/HTTPRequest/cachePartition`` of the requests.
    public func remove(_ url: URL, partition: String? = nil) {
        if let key = CacheKey(URLParts(url), partition: partition) { core.invalidate(key) }
    }

    /// The state of storing: whether the last attempt has succeeded, and what has failed.
    public var health: Health { core.store.health.health }

    /// The counters since the cache was created.
    public var statistics: Statistics { core.statistics }

    /// Counts what a ``Cache`` did.
    public struct Statistics: Sendable, Equatable {
        /// Requests that were answered with a fresh response.
        public internal(set) var hits = 0
        /// Requests that were answered with a stale response.
        public internal(set) var stale = 0
        /// Requests that were answered after the server had confirmed the stored response.
        public internal(set) var validated = 0
        /// Requests that were answered by the server.
        public internal(set) var misses = 0
        /// Requests that passed the cache by.
        public internal(set) var bypassed = 0
        /// Responses that were stored.
        public internal(set) var stored = 0
        /// Responses that were removed to make place for others.
        public internal(set) var evicted = 0
        /// Responses that were removed since their bytes were damaged.
        public internal(set) var damaged = 0
        /// The number of bytes that are stored.
        public internal(set) var bytes: Int64 = 0
    }
}

extension Cache {
    func sweep(
        andUnreadable: Bool = false,
        _ isGone: @escaping @Sendable (Entry) -> Bool,
        end: @escaping @Sendable () -> Void
    ) {
        let now = core.now()
        core.store.sweep(andUnreadable: andUnreadable, { Entry($0, $1, now: now).map(isGone) ?? false }, end)
    }
}

extension Cache: ArrangedLink {
    package var sharedState: AnyObject? { core }
}
