internal import DeferredCore
internal import DeferredHTTP
internal import DeferredNetworking
internal import DeferredTask
internal import Dispatch
internal import Foundation

/// The part of a ``Cache`` that its copies share: asks the rules, and does what they say.
final class CacheCore: Sendable {
    let store: any ResponseStore
    private let servesErrors: Bool
    private let clearsSiteData: Bool
    private let statusName: String?
    let now: @Sendable () -> CacheInstant
    let clock: any Clock<Duration>
    let tickets = FetchTickets()
    let sharedFetches = SharedFetches()
    private let background: InFlightRequests
    private let counters = Lock(Cache.Statistics())
    private let cleared = Lock(ClearedOrigins())

    init(
        _ store: any ResponseStore,
        servesErrors: Bool,
        clearsSiteData: Bool,
        statusName: String?,
        now: @escaping @Sendable () -> CacheInstant,
        clock: any Clock<Duration>
    ) {
        self.store = store
        self.now = now
        self.clock = clock
        self.servesErrors = servesErrors
        self.clearsSiteData = clearsSiteData
        self.statusName = statusName
        background = InFlightRequests(grace: .seconds(5), clock: clock)
    }

    var statistics: Cache.Statistics {
        var result = counters.withLock { $0 }
        let counts = store.counts
        (result.stored, result.evicted) = (counts.stored, counts.evicted)
        (result.damaged, result.bytes) = (counts.damaged, counts.bytes)
        return result
    }

    func count(_ change: (inout Cache.Statistics) -> Void) {
        counters.withLock { change(&$0) }
    }

    // MARK: - Loading

    func load(_ task: HTTPTask, _ next: any HTTPLoader, _ caller: ProgressReporter?) {
        let asked = CacheRequest(task.request)
        let reads = asked.method == .get || asked.method == .head
        guard let key = CacheKey(task.request), reads || !asked.method.isSafe else {
            count { $0.bypassed += 1 }
            return task.pass(to: next)
        }
        let query = CacheQuery(task, next, key, asked, caller: caller, statusName: statusName)
        let flags = asked.directives.flags
        // One that must not be sent is looked up in any case, and gets a 504 if it can't be answered: RFC 9111, section
        // 5.2.1.7.
        if reads, flags.contains(.onlyIfCached) || !flags.contains(.noStore) {
            return lookUp(query, .new(closedCount: sharedFetches.closedCount))
        }
        count { $0.bypassed += 1 }
        query.note { $0.forwarding = reads ? .bypass : .method }
        CacheFetch(core: self, query: query).send()
    }

    /// Looks for a stored response.
    private func lookUp(_ query: CacheQuery, _ stage: CacheQuery.Stage) {
        let isHeld = store.isBlocking
        if isHeld { query.beginWaiting() }
        // Before it is looked for: what is found now may be removed, and the clearing over, when it is chosen.
        let cleared = cleared.withLock { $0.time(of: query.key) }
        store.find(query.key) { stored in
            guard isHeld else { return found(stored) }
            query.endWaiting()
            query.task.execution.later { found(stored) }
        }
        @Sendable func found(_ stored: [StoredResponse]) {
            // The request may have been cancelled, or completed by an earlier loader.
            if query.task.failIfCancelled() { return }
            let kept = cleared.map { time in stored.filter { $0.head.requestTime.isLater(than: time, now: time) } }
            let found = self.select(kept ?? stored, query.asked)
            let wait: CacheQuery.Wait? = if case .alone(let ended) = stage { ended } else { nil }
            let now = self.now()
            let decision = ReuseRules.decide(
                query.asked,
                found?.head,
                now: now,
                servesErrors: self.servesErrors,
                isJustFetched: found.map { wait?.hasBrought($0.head) ?? false } ?? false
            )
            query.note {
                $0.forwarding = .init(decision, found?.head, isKnown: !stored.isEmpty, at: now)
                $0.isCollapsed = wait != nil
            }
            self.perform(decision, query, found, stage)
        }
    }

    private func select(_ found: [StoredResponse], _ asked: CacheRequest) -> StoredResponse? {
        // Of several, the newest counts: RFC 9111, section 4.1.
        var newest: StoredResponse?
        for response in found where response.head.isFor(asked.headers, salt: store.salt) {
            if let newest, newest.head.isNewer(than: response.head, now: now()) { continue }
            newest = response
        }
        return newest
    }

    private func perform(
        _ decision: ReuseRules.Decision,
        _ query: CacheQuery,
        _ found: StoredResponse?,
        _ stage: CacheQuery.Stage
    ) {
        switch decision {
        case .reuse(let reuse):
            guard let found else { preconditionFailure("\(reuse) of no response") }
            if reuse.revalidates, !revalidate(query, found) {
                query.note { $0.forwarding = .stale }
                return send(query, found, .plain, nil, stage)
            }
            count { if reuse.isStale { $0.stale += 1 } else { $0.hits += 1 } }
            deliver(found, reuse, to: query) {
                // Not looked up again: what can't be read may be what can't be removed either.
                let decision = ReuseRules.decide(query.asked, nil, now: self.now())
                query.note { $0.forwarding = .stale }
                self.perform(decision, query, nil, .alone(after: nil))
            }
        case .unavailable:
            count { $0.misses += 1 }
            let body: HTTPResponse.Body = query.task.request.delivery == .stream ? .stream(.empty) : .data(Data())
            let response = HTTPResponse(
                request: query.task.request,
                status: 504,
                headers: [:],
                body,
                hasURLOfRequest: true
            )
            query.task.complete(with: .success(response))
        case .validate(let fallback):
            send(query, found, .validation, fallback, stage)
        case .complete(let completion):
            // A download asks for ranges of its own.
            let isFile = if case .file = query.task.request.delivery { true } else { false }
            send(query, found, isFile ? .plain : .completion(completion), nil, stage)
        case .forward(let fallback):
            send(query, found, .plain, fallback, stage)
        }
    }

    // MARK: - Sending

    private func send(
        _ query: CacheQuery,
        _ stored: StoredResponse?,
        _ kind: CacheFetch.Kind,
        _ fallback: ReuseRules.Reuse?,
        _ stage: CacheQuery.Stage
    ) {
        var fetch = CacheFetch(core: self, query: query)
        (fetch.stored, fetch.kind, fetch.fallback) = (stored, kind, fallback)
        guard let key = fetchKey(query, stage) else { return fetch.begin() }
        let (alone, start) = (fetch, now())
        let joined = sharedFetches.join(key, start, of: query.whole, stage) { shared, end in
            query.endWaiting()
            let wait = CacheQuery.Wait(shared: shared, start: start)
            query.task.execution.later {
                switch end {
                case .arrived: self.lookUp(query, .alone(after: wait))
                case .cancelled: self.lookUp(query, .new(closedCount: self.sharedFetches.closedCount))
                case .failed(let error, let request):
                    if query.task.request.hasOptions(of: request) {
                        alone.fail(error)
                    } else {
                        self.lookUp(query, .alone(after: nil))
                    }
                case .sharing(let body): self.share(body, of: shared, query, after: wait)
                }
            }
        }
        switch joined {
        case .meetsItself:
            fetch.begin()
        case .shares(let shared, let body):
            share(body, of: shared, query, after: nil)
        case .isLate:
            lookUp(query, .late)
        case .leads(let shared):
            fetch.shared = shared
            fetch.begin()
        case .waits(let place):
            query.beginWaiting { self.sharedFetches.leave(place) }
        }
    }

    /// Answers with a body that is on its way to another request.
    ///
    /// - Parameter wait: The query's, if it has waited since before the head came, so that the response was fetched for it,
    ///   too. A query that comes later needs a fresh one: the body may have been on its way for hours.
    private func share(_ body: SharedBody, of shared: SharedFetch, _ query: CacheQuery, after wait: CacheQuery.Wait?) {
        let now = now()
        let decision = ReuseRules.decide(query.asked, body.head, now: now, isJustFetched: wait != nil)
        let next = CacheQuery.Stage.alone(after: wait)
        guard case .reuse(let reuse) = decision, reuse.form == .whole, !reuse.revalidates,
            let stream = body.join(for: query.task.request)
        else {
            if wait != nil || body.head.staleness(at: now) < 0 { return lookUp(query, next) }
            // It is for nobody else either: the next request is the one that others wait for.
            sharedFetches.close(shared)
            return lookUp(query, .late)
        }
        // One of unknown length may never end, or become too large to be stored for slower readers.
        if case .stream = query.task.request.delivery, body.head.announcedLength != nil {
            count { if reuse.isStale { $0.stale += 1 } else { $0.hits += 1 } }
            query.note { ($0.forwarding, $0.isCollapsed) = (nil, true) }
            let response = Delivery(body.head, reuse, query.task.request).response(.stream(stream))
            query.succeed(response, timeLeft: -body.head.staleness(at: now))
        } else {
            // It is stored when it has arrived.
            query.beginWaiting { stream.cancel() }
            let reading = Task { await body.read(stream) }
            reading.upon(.immediate) { _ in
                query.endWaiting()
                query.task.execution.later { self.lookUp(query, next) }
            }
        }
    }

    /// Returns `nil` for a request that must not wait for another one: it may be meant to see what has changed since that
    /// was sent.
    private func fetchKey(_ query: CacheQuery, _ stage: CacheQuery.Stage) -> FetchKey? {
        if case .alone = stage { return nil }
        let wanted = query.asked.directives
        guard query.asked.method == .get, !wanted.flags.contains(.noCache), wanted.maxAge != 0 else { return nil }
        return FetchKey(key: query.key, headers: query.asked.headers, timeout: query.task.request.timeout)
    }

    /// Asks the server about a stale response that is the answer meanwhile: once for all who get it.
    ///
    /// - Returns: False if this is the request that asks. It has met the cache once more, and must not be answered with what
    ///   it is to renew.
    private func revalidate(_ query: CacheQuery, _ stored: StoredResponse) -> Bool {
        var request = query.task.request
        request.delivery = .data
        request.cachePolicy = .standard
        // The whole is renewed. A 304 to a condition of the client's would be about what the client has.
        let own = ["If-None-Match", "If-Modified-Since", "If-Range"] + (stored.head.extent.isWhole ? ["Range"] : [])
        request.headers = request.headers.without(own)
        let task = HTTPTask(request)
        let asked = CacheRequest(request)
        let key = FetchKey(key: query.key, headers: asked.headers, timeout: request.timeout)
        if sharedFetches.isLed(key, by: query.whole) { return false }
        guard request.method == .get,
            let shared = sharedFetches.lead(key, now(), of: task.execution.reporter)
        else { return true }
        var fetch = CacheFetch(core: self, query: CacheQuery(task, query.next, query.key, asked))
        (fetch.stored, fetch.shared, fetch.isInBackground) = (stored, shared, true)
        if !stored.head.conditions.isEmpty { fetch.kind = .validation }
        if background.add(task.execution) {
            fetch.begin()
        } else {
            task.fail(.cancelled)
            sharedFetches.end(shared, .cancelled)
        }
        return true
    }

    func begin(_ key: CacheKey, _ asked: CacheRequest) -> FetchTicket {
        tickets.begin(key, FetchTicket(asked.headers, salt: store.salt, mark: store.mark(of: key)))
    }

    /// Called once for each ticket and shared fetch.
    func end(_ fetch: CacheFetch, _ end: SharedFetches.End) {
        if let ticket = fetch.ticket { tickets.end(fetch.query.key, ticket) }
        if let shared = fetch.shared { sharedFetches.end(shared, end) }
    }

    func flush() -> Future<Void> {
        let end = Deferred<Void>()
        store.flush { end.fill() }
        return end.future
    }

    // MARK: - Removing

    /// Removes what is stored for a key, and what is on its way.
    func invalidate(_ key: CacheKey) {
        tickets.makeVoid { $0 == key }
        sharedFetches.detach { $0 == key }
        store.invalidate(key)
    }

    /// Removes what is outdated by a response that can't be stored, and must not be taken for the newest for that reason.
    func removeOutdated(by head: StoredHead, _ ticket: FetchTicket, _ key: CacheKey) {
        let (isNewest, now) = (ticket.allows(head), now())
        store.remove(key) { head.outlives($0, ticket, isNewest: isNewest, now: now) }
    }

    /// Removes what is stored, and what is on its way, of an origin whose response asks for that.
    ///
    /// - Parameter asked: The key of the request. A loader below the cache may have followed redirects.
    func clearSiteData(_ response: HTTPResponse, _ asked: CacheKey) {
        guard clearsSiteData, let field = response.headers.combined("Clear-Site-Data"),
            FieldList.members(of: field).contains(where: { $0 == "\"cache\"" || $0 == "\"*\"" }),
            let key = response.url.map({ CacheKey(URLParts($0), partition: asked.partition) }) ?? asked,
            key.isTrustworthy
        else { return }
        tickets.makeVoid { $0.hasOrigin(of: key) }
        sharedFetches.detach { $0.hasOrigin(of: key) }
        let time = now()
        if cleared.withLock({ $0.begin(key, at: time) }) { clear(key) }
    }

    /// Removes what is stored of an origin, and once more if that was asked for meanwhile.
    private func clear(_ key: CacheKey) {
        store.sweep(andUnreadable: true, { other, _ in other.hasOrigin(of: key) }) { [self] in
            if cleared.withLock({ $0.end(key) }) { clear(key) }
        }
    }

    func removeAll() -> Future<Void> {
        tickets.makeVoid { _ in true }
        sharedFetches.detach { _ in true }
        let end = Deferred<Void>()
        store.removeAll { end.fill() }
        return end.future
    }

    func reset() -> Future<Void> {
        background.drain().flatMap { self.removeAll() }.map { self.background.reopen() }
    }

    // MARK: - Delivering

    /// Completes the task with a stored response.
    ///
    /// - Parameter isUnusable: Called if the stored bytes can't be delivered. If they are damaged, the response has been
    ///   removed then; if the request's file can't be written, the loader below says why.
    func deliver(
        _ stored: StoredResponse,
        _ reuse: ReuseRules.Reuse,
        to query: CacheQuery,
        isDelivered: @escaping @Sendable () -> Void = {},
        isUnusable: @escaping @Sendable () -> Void
    ) {
        let delivery = Delivery(stored.head, reuse, query.task.request)
        if let response = delivery.responseInMemory(from: stored.body) {
            query.succeed(response, timeLeft: -stored.head.staleness(at: now()))
            return isDelivered()
        }
        let isHeld = store.isBlocking
        if isHeld { query.beginWaiting() }
        // Without the task, whose result has the stream.
        let remove: @Sendable () -> Void = { [store, key = query.key] in store.removeDamaged(key, stored) }
        delivery.makeResponse(from: stored.body, onDamage: remove) { response in
            if isHeld { query.endWaiting() }
            if let response {
                query.succeed(response, timeLeft: -stored.head.staleness(at: self.now()))
                isDelivered()
            } else {
                isUnusable()
            }
        }
    }
}
