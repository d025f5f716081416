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
    let now: @Sendable () -> CacheInstant
    let clock: any Clock<Duration>
    let tickets = ExchangeTickets()
    let flights = CacheFlights()
    private let background = BackgroundExecutions()
    private let counters = Lock(Cache.Statistics())
    private let clearing = Lock<[Clearing]>([])

    /// An origin whose responses are being removed, which may take as long as reading all heads of a folder.
    private struct Clearing: Sendable {
        let key: CacheKey
        /// The time before which what was asked for is not used.
        var time: CacheInstant
        /// True if its responses are to be removed once more.
        var isAskedAgain = false
    }

    init(
        _ store: any ResponseStore,
        servesErrors: Bool,
        clearsSiteData: Bool = true,
        now: @escaping @Sendable () -> CacheInstant,
        clock: any Clock<Duration>
    ) {
        (self.store, self.now, self.clock) = (store, now, clock)
        (self.servesErrors, self.clearsSiteData) = (servesErrors, clearsSiteData)
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

    func load(_ task: HTTPTask, _ next: any HTTPLoader) {
        let asked = CacheRequest(task.request)
        let reads = asked.method == .get || asked.method == .head
        guard let key = CacheKey(task.request), reads || !asked.method.isSafe else {
            count { $0.bypassed += 1 }
            return task.pass(to: next)
        }
        let query = CacheQuery(task, next, key, asked)
        if reads, !asked.directives.flags.contains(.noStore) {
            return lookUp(query, .new(closedCount: flights.closedCount))
        }
        count { $0.bypassed += 1 }
        Exchange(core: self, query: query, ticket: nil).send()
    }

    /// Looks for a stored response.
    private func lookUp(_ query: CacheQuery, _ stage: CacheQuery.Stage) {
        let isHeld = store.isBlocking
        if isHeld { query.beginWaiting() }
        store.find(query.key) { stored in
            guard isHeld else { return found(stored) }
            query.endWaiting()
            query.task.execution.later { found(stored) }
        }
        @Sendable func found(_ stored: [StoredResponse]) {
            // The request may have been cancelled, or completed by an earlier loader.
            if query.task.failIfCancelled() { return }
            let found = self.select(stored.filter { !self.isCleared(query.key, $0.head) }, query.asked)
            var start: CacheInstant?
            if case .alone(let flight) = stage { start = flight?.start }
            let decision = ReuseRules.decide(
                query.asked,
                found?.head,
                now: self.now(),
                servesErrors: self.servesErrors,
                isJustFetched: found.map { start?.isNotAfter($0.head.requestTime) ?? false } ?? false
            )
            self.perform(decision, query, found, stage)
        }
    }

    private func select(_ found: [StoredResponse], _ asked: CacheRequest) -> StoredResponse? {
        let ticket = ExchangeTicket(asked.headers, salt: store.salt)
        let (matching, now) = (found.filter { ticket.couldChoose($0.head) }, now())
        // Of several, the newest counts: RFC 9111, section 4.1.
        return matching.dropFirst().reduce(matching.first) { best, response in
            best.map { $0.head.isNewer(than: response.head, now: now) ? $0 : response }
        }
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
            count { if reuse.isStale { $0.stale += 1 } else { $0.hits += 1 } }
            if reuse.revalidates { revalidate(query, found) }
            let source = HTTPResponse.Source.cache(age: .seconds(reuse.age), isStale: reuse.isStale)
            deliver(found, reuse, source, to: query) {
                // Not looked up again: what can't be read may be what can't be removed either.
                let decision = ReuseRules.decide(query.asked, nil, now: self.now())
                self.perform(decision, query, nil, .alone(after: nil))
            }
        case .unavailable:
            count { $0.misses += 1 }
            query.task.succeed(504, url: query.task.request.url)
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
        _ kind: Exchange.Kind,
        _ fallback: ReuseRules.Reuse?,
        _ stage: CacheQuery.Stage
    ) {
        var exchange = Exchange(core: self, query: query, ticket: nil)
        (exchange.stored, exchange.kind, exchange.fallback) = (stored, kind, fallback)
        guard let key = flightKey(query, stage) else { return exchange.begin() }
        let alone = exchange
        let joined = flights.join(key, now(), of: query.task.execution.reporter, stage) { flight, end in
            query.endWaiting()
            query.task.execution.later {
                switch end {
                case .arrived: self.lookUp(query, .alone(after: flight))
                case .cancelled: self.lookUp(query, .new(closedCount: self.flights.closedCount))
                case .failed(let error, let request):
                    if query.task.request.hasOptions(of: request) {
                        alone.fail(error)
                    } else {
                        self.lookUp(query, .alone(after: nil))
                    }
                case .sharing(let body): self.share(body, of: flight, query, hasWaited: true)
                }
            }
        }
        switch joined {
        case .meetsItself:
            exchange.begin()
        case .shares(let flight, let body):
            share(body, of: flight, query, hasWaited: false)
        case .isLate:
            lookUp(query, .late)
        case .leads(let flight):
            exchange.flight = flight
            exchange.begin()
        case .waits(let place):
            query.beginWaiting { self.flights.leave(place) }
        }
    }

    /// Answers with a body that is on its way to another request.
    ///
    /// - Parameter hasWaited: Whether the query has waited since before the head came, so that the response was fetched for
    ///   it, too. A query that comes later needs a fresh one: the body may have been on its way for hours.
    private func share(_ body: SharedBody, of flight: CacheFlight, _ query: CacheQuery, hasWaited: Bool) {
        let now = now()
        let decision = ReuseRules.decide(query.asked, body.head, now: now, isJustFetched: hasWaited)
        let next = CacheQuery.Stage.alone(after: hasWaited ? flight : nil)
        guard case .reuse(let reuse) = decision, reuse.form == .whole, !reuse.revalidates, let stream = body.join()
        else {
            if hasWaited || body.head.staleness(at: now) < 0 { return lookUp(query, next) }
            // It is for nobody else either: the next request is the one that others wait for.
            flights.close(flight)
            return lookUp(query, .late)
        }
        let source = HTTPResponse.Source.cache(age: .seconds(reuse.age), isStale: reuse.isStale)
        let response = Delivery.response(
            body.head,
            stream,
            age: reuse.age,
            source,
            staleReason: reuse.staleReason,
            query.task.request
        )
        switch query.task.request.delivery {
        case .stream:
            count { if reuse.isStale { $0.stale += 1 } else { $0.hits += 1 } }
            query.task.complete(with: .success(response))
        case .data, .file:
            // It is stored when it has arrived.
            query.beginWaiting { stream.cancel() }
            let reading = Task { for try await _ in stream {} }
            reading.upon(.immediate) { _ in
                query.endWaiting()
                query.task.execution.later { self.lookUp(query, next) }
            }
        }
    }

    /// Returns `nil` for a request that must not wait for another one: it may be meant to see what has changed since that
    /// was sent.
    private func flightKey(_ query: CacheQuery, _ stage: CacheQuery.Stage) -> FlightKey? {
        if case .alone = stage { return nil }
        let wanted = query.asked.directives
        guard query.asked.method == .get, !wanted.flags.contains(.noCache), wanted.maxAge != 0 else { return nil }
        return FlightKey(key: query.key, headers: query.asked.headers, timeout: query.task.request.timeout)
    }

    /// Asks the server about a stale response that is the answer meanwhile: once for all who get it.
    private func revalidate(_ query: CacheQuery, _ stored: StoredResponse) {
        var request = query.task.request
        request.delivery = .data
        request.cachePolicy = .standard
        // The whole is renewed. A 304 to a condition of the client's would be about what the client has.
        let own = ["If-None-Match", "If-Modified-Since", "If-Range"] + (stored.head.extent.isWhole ? ["Range"] : [])
        for name in own { request.headers.remove(name) }
        let task = HTTPTask(request)
        let asked = CacheRequest(request)
        let key = FlightKey(key: query.key, headers: asked.headers, timeout: request.timeout)
        guard request.method == .get,
            let flight = flights.lead(key, now(), of: task.execution.reporter)
        else { return }
        var exchange = Exchange(
            core: self,
            query: CacheQuery(task, query.next, query.key, asked),
            ticket: nil
        )
        (exchange.stored, exchange.flight, exchange.isInBackground) = (stored, flight, true)
        if !stored.head.conditions.isEmpty { exchange.kind = .validation }
        guard background.add(task.execution) else {
            task.fail(.cancelled)
            return flights.end(flight, .cancelled)
        }
        exchange.begin()
    }

    func begin(_ key: CacheKey, _ asked: CacheRequest) -> ExchangeTicket {
        tickets.begin(key, ExchangeTicket(asked.headers, salt: store.salt, mark: store.mark(of: key)))
    }

    /// Called once for each ticket and flight.
    func end(_ exchange: Exchange, _ end: CacheFlights.End) {
        self.end(exchange.query.key, exchange.ticket, exchange.flight, end)
    }

    func end(
        _ key: CacheKey,
        _ ticket: ExchangeTicket?,
        _ flight: CacheFlight?,
        _ end: CacheFlights.End
    ) {
        if let ticket { tickets.end(key, ticket) }
        if let flight { flights.end(flight, end) }
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
        flights.detach { $0 == key }
        store.invalidate(key)
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
        flights.detach { $0.hasOrigin(of: key) }
        let time = now()
        let isNew = clearing.withLock { clearing in
            guard let index = clearing.firstIndex(where: { $0.key.hasOrigin(of: key) }) else {
                clearing.append(Clearing(key: key, time: time))
                return true
            }
            (clearing[index].time, clearing[index].isAskedAgain) = (time, true)
            return false
        }
        if isNew { clear(key) }
    }

    /// Removes what is stored of an origin, and once more if that was asked for meanwhile.
    private func clear(_ key: CacheKey) {
        store.sweep({ other, _ in other.hasOrigin(of: key) }) { [self] in
            let isAgain = clearing.withLock { clearing -> Bool in
                guard let index = clearing.firstIndex(where: { $0.key.hasOrigin(of: key) }) else { return false }
                if clearing[index].isAskedAgain {
                    clearing[index].isAskedAgain = false
                    return true
                }
                clearing.remove(at: index)
                return false
            }
            if isAgain { clear(key) }
        }
    }

    private func isCleared(_ key: CacheKey, _ head: StoredHead) -> Bool {
        clearing.withLock { clearing in
            clearing.contains { $0.key.hasOrigin(of: key) && !head.requestTime.isLater(than: $0.time, now: $0.time) }
        }
    }

    func removeAll() -> Future<Void> {
        tickets.makeVoid { _ in true }
        flights.detach { _ in true }
        let end = Deferred<Void>()
        store.removeAll { end.fill() }
        return end.future
    }

    func reset() -> Future<Void> {
        background.reset().flatMap { self.removeAll() }.map { self.background.reopen() }
    }

    // MARK: - Delivering

    /// Completes the task with a stored response.
    ///
    /// - Parameter isUnusable: Called if the stored bytes can't be delivered. If they are damaged, the response has been
    ///   removed then; if the request's file can't be written, the loader below says why.
    func deliver(
        _ stored: StoredResponse,
        _ reuse: ReuseRules.Reuse,
        _ source: HTTPResponse.Source,
        to query: CacheQuery,
        isDelivered: @escaping @Sendable () -> Void = {},
        isUnusable: @escaping @Sendable () -> Void
    ) {
        let delivery = Delivery(stored, reuse, source, query.task.request)
        let isHeld = store.isBlocking
        if isHeld { query.beginWaiting() }
        // Without the task, whose result has the stream.
        let remove: @Sendable () -> Void = { [store, key = query.key] in store.removeDamaged(key, stored) }
        delivery.makeResponse(onDamage: remove) { response in
            if isHeld { query.endWaiting() }
            if let response {
                query.task.complete(with: .success(response))
                isDelivered()
            } else {
                isUnusable()
            }
        }
    }
}

extension CacheInstant {
    /// Returns whether this instant of the same process was not after another one.
    fileprivate func isNotAfter(_ other: CacheInstant) -> Bool {
        guard let steady, let otherSteady = other.steady else { return false }
        return steady <= otherSteady
    }
}
