internal import DeferredCore
internal import DeferredTask
internal import Dispatch
internal import Foundation

/// The part of a ``Cache`` that its copies share: asks the rules, and does what they say.
final class CacheCore: Sendable {
    let store: any ResponseStore
    private let servesErrors: Bool
    private let now: @Sendable () -> CacheInstant
    private let tickets = ExchangeTickets()
    private let flights = CacheFlights()
    private let background = BackgroundExecutions()
    private let counters = Lock(Cache.Statistics())

    init(_ store: any ResponseStore, servesErrors: Bool, now: @escaping @Sendable () -> CacheInstant) {
        (self.store, self.servesErrors, self.now) = (store, servesErrors, now)
    }

    var statistics: Cache.Statistics {
        var result = counters.withLock { $0 }
        let counts = store.counts
        (result.stored, result.evicted) = (counts.stored, counts.evicted)
        (result.damaged, result.bytes) = (counts.damaged, counts.bytes)
        return result
    }

    private func count(_ change: (inout Cache.Statistics) -> Void) {
        counters.withLock { change(&$0) }
    }

    // MARK: - Loading

    func load(_ task: HTTPTask, _ next: (any HTTPLoader)?) {
        let asked = CacheRequest(task.request)
        let reads = asked.method == .get || asked.method == .head
        guard let key = CacheKey(task.request), reads || !asked.method.isSafe else {
            count { $0.bypassed += 1 }
            return task.pass(to: next)
        }
        let query = CacheQuery(task, next, key, asked)
        if reads, !asked.directives.flags.contains(.noStore) { return lookUp(query) }
        count { $0.bypassed += 1 }
        Exchange(core: self, query: query, ticket: nil).send()
    }

    /// Looks for a stored response.
    ///
    /// - Parameters:
    ///   - joins: Whether the request may wait for an equal one.
    ///   - flight: The flight that the request has waited for.
    fileprivate func lookUp(_ query: CacheQuery, joins: Bool = true, after flight: CacheFlight? = nil) {
        let isHeld = store.isBlocking
        if isHeld { query.beginWaiting() }
        store.find(query.key) { stored in
            if isHeld { query.endWaiting() }
            // The request may have been cancelled, or completed by an earlier loader.
            if query.task.failIfCancelled() { return }
            let found = self.select(stored, query.asked)
            let decision = ReuseRules.decide(
                query.asked,
                found?.head,
                now: self.now(),
                servesErrors: self.servesErrors,
                isJustFetched: found.map { flight?.start.isNotAfter($0.head.requestTime) ?? false } ?? false
            )
            self.perform(decision, query, found, joins: joins)
        }
    }

    private func select(_ stored: [StoredResponse], _ asked: CacheRequest) -> StoredResponse? {
        var result: StoredResponse?
        for response in stored {
            let isPublic = response.head.directives.flags.contains(.isPublic)
            guard response.head.variant.matches(asked.headers, isPublic: isPublic, salt: store.salt)
            else { continue }
            // Of several, the newest counts: RFC 9111, section 4.1.
            if let best = result, best.head.isNewer(than: response.head) { continue }
            result = response
        }
        return result
    }

    private func perform(
        _ decision: ReuseRules.Decision,
        _ query: CacheQuery,
        _ found: StoredResponse?,
        joins: Bool
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
                self.perform(decision, query, nil, joins: false)
            }
        case .unavailable:
            count { $0.misses += 1 }
            query.task.succeed(504, url: query.task.request.url)
        case .validate(let fallback):
            send(query, found, .validation, fallback, joins)
        case .complete(let completion) where query.task.request.delivery == .data:
            send(query, found, .completion(completion), nil, joins)
        case .complete:
            send(query, found, .plain, nil, joins)
        case .forward(let fallback):
            send(query, found, .plain, fallback, joins)
        }
    }

    // MARK: - Sending

    private func send(
        _ query: CacheQuery,
        _ stored: StoredResponse?,
        _ kind: Exchange.Kind,
        _ fallback: ReuseRules.Reuse?,
        _ joins: Bool
    ) {
        var exchange = Exchange(core: self, query: query, ticket: nil)
        (exchange.stored, exchange.kind, exchange.fallback) = (stored, kind, fallback)
        guard joins, let key = flightKey(query) else { return exchange.begin() }
        let alone = exchange
        let joined = flights.join(key, now(), of: query.task.execution.reporter) { flight, end in
            query.endWaiting()
            switch end {
            case .arrived: self.lookUp(query, joins: false, after: flight)
            case .cancelled: self.lookUp(query)
            case .failed(let error): alone.fail(error)
            case .sharing(let body): self.share(body, flight, query)
            }
        }
        switch joined {
        case .meetsItself:
            exchange.begin()
        case .shares(let flight, let body):
            share(body, flight, query)
        case .leads(let flight):
            exchange.flight = flight
            exchange.begin()
        case .waits(let place):
            query.beginWaiting { self.flights.leave(place) }
        }
    }

    /// Answers with a body that is on its way to another request.
    private func share(_ body: SharedBody, _ flight: CacheFlight, _ query: CacheQuery) {
        let now = now()
        let decision = ReuseRules.decide(query.asked, body.head, now: now, isJustFetched: true)
        guard case .reuse(let reuse) = decision, reuse.form == .whole, let stream = body.join() else {
            return lookUp(query, joins: false, after: flight)
        }
        let source = HTTPResponse.Source.cache(age: .seconds(reuse.age), isStale: reuse.isStale)
        let response = Delivery.response(body.head, stream, age: reuse.age, source, query.task.request)
        switch query.task.request.delivery {
        case .stream:
            count { $0.hits += 1 }
            query.task.complete(with: .success(response))
        case .data, .file:
            // It is stored when it has arrived.
            query.beginWaiting { stream.cancel() }
            let reading = Task { for try await _ in stream {} }
            reading.upon(.immediate) { _ in
                query.endWaiting()
                self.lookUp(query, joins: false, after: flight)
            }
        }
    }

    /// Returns `nil` for a request that must not wait for another one: it may be meant to see what has changed since that
    /// was sent.
    private func flightKey(_ query: CacheQuery) -> FlightKey? {
        guard query.asked.method == .get, !query.asked.directives.flags.contains(.noCache) else {
            return nil
        }
        return FlightKey(key: query.key, headers: query.asked.headers)
    }

    /// Asks the server about a stale response that is the answer meanwhile: once for all who get it.
    private func revalidate(_ query: CacheQuery, _ stored: StoredResponse) {
        guard let next = query.next else { return }
        var request = query.task.request
        request.delivery = .data
        request.cachePolicy = .standard
        let task = HTTPTask(request)
        let asked = CacheRequest(.get, request.headers)
        let key = FlightKey(key: query.key, headers: asked.headers)
        guard request.method == .get,
            let flight = flights.lead(key, now(), of: task.execution.reporter)
        else { return }
        var exchange = Exchange(
            core: self,
            query: CacheQuery(task, next, query.key, asked),
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

    fileprivate func begin(_ key: CacheKey) -> ExchangeTicket { tickets.begin(key) }

    /// Called once for each ticket and flight.
    fileprivate func end(_ exchange: Exchange, _ end: CacheFlights.End) {
        self.end(exchange.query.key, exchange.ticket, exchange.flight, end)
    }

    fileprivate func end(
        _ key: CacheKey,
        _ ticket: ExchangeTicket?,
        _ flight: CacheFlight?,
        _ end: CacheFlights.End
    ) {
        if let ticket { tickets.end(key, ticket) }
        if let flight { flights.end(flight, end) }
    }

    // MARK: - Removing

    /// Removes what is stored for a key, and what is on its way.
    func invalidate(_ key: CacheKey) {
        tickets.makeVoid(key)
        flights.detach(key)
        store.remove(key, nil)
    }

    func removeAll() -> Future<Void> {
        tickets.makeVoid(nil)
        flights.detach(nil)
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
    /// - Parameter isDamaged: Called if the stored bytes can't be delivered; the response has been removed then.
    fileprivate func deliver(
        _ stored: StoredResponse,
        _ reuse: ReuseRules.Reuse,
        _ source: HTTPResponse.Source,
        to query: CacheQuery,
        isDamaged: @escaping @Sendable () -> Void
    ) {
        let delivery = Delivery(stored, reuse, source, query.task.request)
        let isHeld = store.isBlocking
        if isHeld { query.beginWaiting() }
        delivery.makeResponse { response in
            if isHeld { query.endWaiting() }
            if let response {
                query.task.complete(with: .success(response))
            } else {
                self.store.removeDamaged(query.key, stored)
                isDamaged()
            }
        }
    }

    /// A request to the server, and what becomes of its response.
    struct Exchange: Sendable {
        enum Kind: Sendable {
            /// As the client has made it.
            case plain
            /// With the conditions of the stored response.
            case validation
            /// For the rest of the stored response.
            case completion(ReuseRules.Completion)
        }

        let core: CacheCore
        let query: CacheQuery
        /// `nil` for a request whose response is not stored.
        var ticket: ExchangeTicket?
        var stored: StoredResponse?
        var kind = Kind.plain
        var fallback: ReuseRules.Reuse?
        var flight: CacheFlight?
        var isInBackground = false

        /// Sends the request, and stores the response.
        func begin() {
            var copy = self
            copy.ticket = core.begin(query.key)
            copy.send()
        }

        func send() {
            let requestTime = core.now()
            let copy = self
            let part = query.task.send(request, to: query.next) { copy.arrived($0, requestTime) }
            // The task is complete, and nothing was sent.
            if part == nil { core.end(self, .cancelled) }
        }

        private var request: HTTPRequest {
            var request = query.task.request
            if let directive = CacheRequest.field(for: request.cachePolicy),
                request.headers["Cache-Control"] == nil
            {
                request.headers["Cache-Control"] = directive
            }
            switch kind {
            case .plain:
                break
            case .validation:
                for field in stored?.head.conditions ?? [] { request.headers[field.name] = field.value }
            case .completion(let completion):
                request.headers["Range"] = "bytes=\(completion.count)-"
                request.headers["If-Range"] = completion.validator
            }
            return request
        }

        // MARK: Receiving

        private func arrived(_ result: HTTPResult, _ requestTime: CacheInstant) {
            switch result {
            case .failure(let error):
                if let response = error.response, error.code == .unacceptableStatus, response.status == .notModified,
                    isValidation
                {
                    // A loader below, such as `Validate`, takes the answer to the cache's own question for a failure.
                    return perform(judge(response, requestTime), response)
                }
                // A request that is lost may have changed the resource nevertheless.
                let mayHaveArrived = ![.cannotConnect, .invalidRequest, .unacceptableStatus].contains(error.code)
                if !query.asked.method.isSafe, mayHaveArrived { core.invalidate(query.key) }
                fail(error)
                core.end(self, error.code == .cancelled ? .cancelled : .failed(error))
            case .success(let response):
                if response.isOutage, deliverFallback(else: response) {
                    response.stream?.cancel()
                    return core.end(self, .arrived)
                }
                perform(judge(response, requestTime), response)
            }
        }

        /// Completes the task with an error, or with a stale response where that is allowed: RFC 5861, section 4.
        func fail(_ error: HTTPError) {
            let isOutage =
                [.cannotConnect, .connectionLost, .timedOut].contains(error.code)
                || error.code == .unacceptableStatus && error.response?.isOutage == true
            if isOutage, deliverFallback(else: nil, error) { return }
            query.task.complete(with: .failure(error))
        }

        private func deliverFallback(else response: HTTPResponse?, _ error: HTTPError? = nil) -> Bool {
            guard let stored, var reuse = fallback else { return false }
            let now = core.now()
            (reuse.age, reuse.isStale) = (
                stored.head.age(at: now) / 1_000, stored.head.staleness(at: now) >= 0
            )
            core.count { $0.stale += 1 }
            let source = HTTPResponse.Source.cache(age: .seconds(reuse.age), isStale: reuse.isStale)
            let query = query
            core.deliver(stored, reuse, source, to: query) {
                if let response {
                    query.task.complete(with: .success(response))
                } else if let error {
                    query.task.complete(with: .failure(error))
                }
            }
            return true
        }

        private var isValidation: Bool {
            if case .plain = kind { false } else { true }
        }

        private func judge(_ response: HTTPResponse, _ requestTime: CacheInstant)
            -> StoringRules.Verdict
        {
            if ticket == nil, query.asked.method.isSafe { return .ignore }
            return StoringRules.judge(
                StoringRules.Exchange(
                    request: query.asked,
                    key: query.key,
                    partition: query.task.request.cachePartition,
                    salt: core.store.salt,
                    stored: stored?.head,
                    isValidation: isValidation,
                    requestTime: requestTime,
                    responseTime: core.now(),
                    status: response.status,
                    headers: response.headers,
                    url: response.url ?? query.task.request.url,
                    sentHeaders: response.request.headers
                )
            )
        }

        private func perform(_ verdict: StoringRules.Verdict, _ response: HTTPResponse) {
            let (key, store) = (query.key, core.store)
            switch verdict {
            case .store(let head):
                core.count { $0.misses += 1 }
                if let stream = response.stream {
                    keep(response, stream, head)
                } else if let file = response.file {
                    keep(response, file, head)
                } else {
                    finish(keeping(response, head))
                }
            case .update(let head, let answers):
                guard let stored, let ticket else { preconditionFailure("an update of no response") }
                store.update(key, stored, head, ticket)
                guard answers else {
                    core.count { $0.misses += 1 }
                    return finish(response)
                }
                response.stream?.cancel()
                answer(StoredResponse(head: head, body: stored.body, version: stored.version))
            case .append(let head):
                append(response, head)
            case .invalidate(let keys, let kept):
                for key in keys { core.invalidate(key) }
                if let kept, let head = kept.completed(by: response) {
                    let ticket = core.begin(key)
                    store.put(key, head, response.body, ticket)
                    core.tickets.end(key, ticket)
                }
                finish(response)
            case .remove:
                core.count { $0.misses += 1 }
                store.remove(key, stored)
                finish(response)
            case .repeatUnconditionally:
                response.stream?.cancel()
                repeatPlainly()
            case .ignore:
                if ticket != nil { core.count { $0.misses += 1 } }
                finish(response)
            }
        }

        private func finish(_ response: HTTPResponse) {
            query.task.complete(with: .success(response))
            core.end(self, .arrived)
        }

        /// Answers with a stored response that the server has confirmed.
        private func answer(_ stored: StoredResponse) {
            core.count { $0.validated += 1 }
            let age = stored.head.age(at: core.now()) / 1_000
            let reuse = ReuseRules.Reuse(form: .whole, age: age, isStale: false)
            let copy = self
            if isInBackground {
                query.task.succeed(stored.head.status)
                return core.end(self, .arrived)
            }
            core.deliver(stored, reuse, .validated(age: .seconds(age)), to: query) {
                // This exchange has ended.
                var next = copy.withoutConditions
                next.flight = nil
                next.begin()
            }
            core.end(self, .arrived)
        }

        /// Sends the request without conditions, since the stored response is of no use.
        private func repeatPlainly() {
            if let stored { core.store.remove(query.key, stored) }
            withoutConditions.send()
        }

        private var withoutConditions: Exchange {
            var copy = self
            (copy.kind, copy.stored, copy.fallback) = (.plain, nil, nil)
            return copy
        }

        /// Stores a response, and returns the one to deliver.
        private func keeping(_ response: HTTPResponse, _ head: StoredHead) -> HTTPResponse {
            guard let ticket, let head = head.completed(by: response) else { return response }
            core.store.put(query.key, head, response.body, ticket)
            return response
        }

        /// Delivers a body that is stored while it is read.
        private func keep(_ response: HTTPResponse, _ stream: HTTPBodyStream, _ head: StoredHead) {
            guard let ticket, let writer = core.store.writer(query.key, head, ticket) else {
                return finish(response)
            }
            // Without the task, whose result has the stream: its release ends the transfer.
            let body = SharedBody(stream, head, writer) { [core, key = query.key, flight] in
                core.end(key, ticket, flight, .arrived)
            }
            guard let own = body.join() else { preconditionFailure("a body without a first reader") }
            if let flight {
                if SharedBody.canShare(head, upTo: core.store.bodyLimit) {
                    core.flights.share(flight, body)
                } else {
                    core.flights.end(flight, .arrived)
                }
            }
            query.task.complete(with: .success(response.with(body: .stream(own))))
        }

        /// Stores a copy of a file, before anybody else can change it.
        private func keep(_ response: HTTPResponse, _ file: URL, _ head: StoredHead) {
            let size = (try? FileManager.default.attributesOfItem(atPath: file.path))?[.size] as? Int64
            guard let size, size <= core.store.bodyLimit, let head = head.completed(by: size), let ticket,
                let writer = core.store.writer(query.key, head, ticket)
            else { return finish(response) }
            let copy = self
            DispatchQueue.global(qos: .userInitiated).async {
                if Self.copy(file, to: writer) == size { writer.commit(head) } else { writer.discard() }
                copy.finish(response)
            }
        }

        /// Returns the number of bytes that were copied, or -1 if not all of them could be.
        private static func copy(_ file: URL, to writer: any BodyWriter) -> Int64 {
            guard let handle = try? FileHandle(forReadingFrom: file) else { return -1 }
            defer { try? handle.close() }
            var count: Int64 = 0
            do {
                while let bytes = try handle.read(upToCount: 1 << 20), !bytes.isEmpty {
                    guard writer.append(bytes) else { return -1 }
                    count += Int64(bytes.count)
                }
            } catch {
                return -1
            }
            return count
        }

        private func append(_ response: HTTPResponse, _ head: StoredHead) {
            guard let stored, let ticket,
                stored.head.extent.count + Int64(response.body.count) == head.extent.count
            else { return repeatPlainly() }
            let copy = self
            stored.body.read(0..<stored.head.extent.count) { beginning in
                guard let beginning else {
                    copy.core.store.removeDamaged(copy.query.key, stored)
                    return copy.repeatPlainly()
                }
                let bytes = beginning + response.body
                copy.core.store.put(copy.query.key, head, bytes, ticket)
                copy.answer(StoredResponse(head: head, body: MemoryBody(bytes: bytes), version: 0))
            }
        }
    }
}

extension HTTPResponse {
    /// True if the server has an error of its own, for which a stale response may stand: RFC 5861, section 4.
    fileprivate var isOutage: Bool { [500, 502, 503, 504].contains(status.code) }
}

extension CacheInstant {
    /// Returns whether this instant of the same process was not after another one.
    fileprivate func isNotAfter(_ other: CacheInstant) -> Bool {
        guard let steady, let otherSteady = other.steady else { return false }
        return steady <= otherSteady
    }
}

extension StoredHead {
    /// Returns the head with the number of bytes that a response has in memory; `nil` if they are not those that it
    /// announces.
    fileprivate func completed(by response: HTTPResponse) -> StoredHead? {
        guard response.stream == nil, response.file == nil else { return nil }
        return completed(by: Int64(response.body.count))
    }

    func completed(by count: Int64) -> StoredHead? {
        if extent.count >= 0 { return extent.count == count ? self : nil }
        // The length of a body that had a coding is that of the encoded one.
        if headers["Content-Encoding"] == nil, let length = headers["Content-Length"],
            length != String(count)
        {
            return nil
        }
        return with(extent: .init(count: count, total: count))
    }
}
