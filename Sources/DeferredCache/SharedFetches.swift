internal import DeferredCore
internal import DeferredHTTP
internal import DeferredTask

/// A request to the server that equal requests wait for.
final class SharedFetch: Sendable {
    /// The time at which the request was sent.
    let start: CacheInstant
    /// Stands for the execution that a caller has loaded, of which the request is a part. Kept, so that no other object
    /// gets its identity while the body of the response is on its way.
    fileprivate let whole: ProgressReporter
    fileprivate let key: FetchKey

    fileprivate init(_ start: CacheInstant, _ key: FetchKey, _ whole: ProgressReporter) {
        self.start = start
        self.key = key
        self.whole = whole
    }
}

/// Requests that can wait for the same response: what a loader below the cache sees of them is equal.
struct FetchKey: Hashable, Sendable {
    let key: CacheKey
    let headers: HTTPHeaders
    /// Whoever waits doesn't wait longer, or fail sooner, than its own request would.
    let timeout: Duration?

    /// The fields that say how much of a response is wanted, and how new it has to be.
    static let extent = ["Range", "If-Range", "If-None-Match", "If-Modified-Since", "Cache-Control"]

    /// Returns whether the request gets what another one gets, as far as the fields of both say.
    fileprivate func isOvertaken(by asked: HTTPHeaders) -> Bool {
        headers.without(Self.extent) == asked.without(Self.extent)
    }
}

extension HTTPRequest {
    /// Returns whether loaders below a cache treat this request as another one, as far as options say.
    func hasOptions(of other: HTTPRequest) -> Bool {
        var (one, other) = (self, other)
        // Whether the same bytes are wanted in memory, in a file or as a stream is no difference.
        (one.delivery, other.delivery) = (.data, .data)
        (one.cachePolicy, other.cachePolicy) = (.standard, .standard)
        guard let options = one.options.comparable else { return false }
        return options == other.options.comparable
    }
}

/// The requests in flight, and those that wait for them.
final class SharedFetches: Sendable {
    /// The end of a shared fetch, as those see it that waited for it.
    enum End: Sendable {
        /// There may be a stored response now. Whoever can't use it goes on alone.
        case arrived
        /// The request was cancelled: one of those that waited has to be sent in its place.
        case cancelled
        /// The request failed. Those that were to be treated in the same way have failed, too; the others go on alone.
        case failed(HTTPError, HTTPRequest)
        /// The body of the response is on its way to all that wait.
        case sharing(SharedBody)
    }

    typealias Waiter = @Sendable (SharedFetch, End) -> Void

    fileprivate struct Entry: Sendable {
        var waiters = NumberedList<Waiter>()
        /// The body that is on its way.
        var body: SharedBody?
    }

    fileprivate struct State: Sendable {
        /// The shared fetches that equal requests can join.
        var joinable: [CacheKey: [FetchKey: SharedFetch]] = [:]
        /// Those that have not ended.
        var fetches: [ObjectIdentifier: Entry] = [:]
        var closedCount = 0
    }

    private let state = Lock(State())

    /// A place among those that wait.
    struct Place: Sendable {
        /// Kept, so that no later one gets its identity while somebody is about to leave it.
        fileprivate let shared: SharedFetch
        fileprivate let number: Int
    }

    enum Joined: Sendable {
        /// The request has to be sent; ``end(_:_:)`` has to be called once.
        case leads(SharedFetch)
        case waits(Place)
        case shares(SharedFetch, SharedBody)
        /// The request in flight is this one, which has met a second cache with the same responses in its chain.
        case meetsItself
        /// A shared fetch has ended since the caller looked for a stored response: there may be one now.
        case isLate
    }

    /// The number of fetches that no other request can join any more.
    var closedCount: Int { state.withLock { $0.closedCount } }

    /// Makes `waiter` wait for an equal request, or the caller send the request.
    ///
    /// - Parameters:
    ///   - whole: The reporter of the execution that a caller has loaded, which stands for it.
    ///   - stage: Of the caller, which has looked for a stored response.
    func join(
        _ key: FetchKey,
        _ start: CacheInstant,
        of whole: ProgressReporter,
        _ stage: CacheQuery.Stage,
        _ waiter: @escaping Waiter
    ) -> Joined {
        state.withLock { state in
            if let shared = state.joinable[key.key]?[key] {
                let identifier = ObjectIdentifier(shared)
                if shared.whole === whole { return .meetsItself }
                if let body = state.fetches[identifier]?.body { return .shares(shared, body) }
                let number = state.fetches[identifier, default: Entry()].waiters.append(waiter)
                return .waits(Place(shared: shared, number: number))
            }
            if case .new(let closedCount) = stage, closedCount < state.closedCount { return .isLate }
            return .leads(state.begin(key, start, whole))
        }
    }

    /// Begins a fetch that others may share, unless an equal one is under way.
    func lead(_ key: FetchKey, _ start: CacheInstant, of whole: ProgressReporter) -> SharedFetch? {
        state.withLock { $0.joinable[key.key]?[key] == nil ? $0.begin(key, start, whole) : nil }
    }

    /// Returns whether an equal request under way is a part of the same execution.
    func isLed(_ key: FetchKey, by whole: ProgressReporter) -> Bool {
        state.withLock { $0.joinable[key.key]?[key]?.whole === whole }
    }

    /// Removes a waiter that was cancelled.
    func leave(_ place: Place) {
        let gone = state.withLock { $0.fetches[ObjectIdentifier(place.shared)]?.waiters.remove(place.number) }
        withExtendedLifetime(gone) {}
    }

    /// Lets those have the body that wait, and those that come while it is on its way.
    func share(_ shared: SharedFetch, _ body: SharedBody) {
        let waiters = state.withLock { state in
            let waiters = state.fetches[ObjectIdentifier(shared)]?.waiters.elements ?? []
            state.fetches[ObjectIdentifier(shared)]?.waiters.removeAll()
            state.fetches[ObjectIdentifier(shared)]?.body = body
            return waiters
        }
        for waiter in waiters { waiter(shared, .sharing(body)) }
    }

    /// Keeps requests that come later from waiting for this one, whose response is about to be delivered: whoever has seen
    /// it may ask again, and wants a newer one.
    func close(_ shared: SharedFetch) {
        state.withLock { $0.close(shared) }
    }

    /// Lets those go on that waited, in the order in which they came.
    func end(_ shared: SharedFetch, _ end: End) {
        // A body is released outside of the lock.
        let gone = state.withLock { state in
            state.close(shared)
            return state.fetches.removeValue(forKey: ObjectIdentifier(shared))
        }
        for waiter in gone?.waiters.elements ?? [] { waiter(shared, end) }
    }

    /// Keeps requests that come later from waiting for those that were sent before a change.
    func detach(where isChanged: (CacheKey) -> Bool) {
        state.withLock { state in
            for key in state.joinable.keys where isChanged(key) { state.joinable[key] = nil }
        }
    }

    /// Keeps requests that come later from waiting for one that was sent before another, whose response is there: they would
    /// get an older one.
    ///
    /// - Parameters:
    ///   - asked: The fields of the one whose response is there.
    ///   - own: Its own fetch, if others may wait for it.
    func detach(_ key: CacheKey, overtakenBy asked: HTTPHeaders, _ own: SharedFetch?) {
        state.withLock { state in
            let older = state.joinable[key]?.filter { $0.value !== own && $0.key.isOvertaken(by: asked) }
            for key in older?.keys.map({ $0 }) ?? [] { state.remove(key) }
        }
    }
}

extension SharedFetches.State {
    fileprivate mutating func begin(
        _ key: FetchKey,
        _ start: CacheInstant,
        _ whole: ProgressReporter
    ) -> SharedFetch {
        let shared = SharedFetch(start, key, whole)
        joinable[key.key, default: [:]][key] = shared
        fetches[ObjectIdentifier(shared)] = .init()
        return shared
    }

    fileprivate mutating func close(_ shared: SharedFetch) {
        guard joinable[shared.key.key]?[shared.key] === shared else { return }
        remove(shared.key)
        closedCount += 1
    }

    fileprivate mutating func remove(_ key: FetchKey) {
        joinable[key.key]?[key] = nil
        if joinable[key.key]?.isEmpty == true { joinable[key.key] = nil }
    }
}
