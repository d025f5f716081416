internal import DeferredCore
internal import DeferredHTTP
internal import DeferredNetworking
internal import Dispatch
internal import Foundation

/// A request to the server, and what becomes of its response.
struct CacheFetch: Sendable {
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
    var ticket: FetchTicket?
    var stored: StoredResponse?
    var kind = Kind.plain
    var fallback: ReuseRules.Reuse?
    var shared: SharedFetch?
    var isInBackground = false

    /// Sends the request, and stores the response.
    func begin() {
        var copy = self
        copy.ticket = core.begin(query.key, query.asked)
        copy.send()
    }

    func send() {
        let requestTime = core.now()
        let part = query.task.send(request, to: query.next) { arrived($0, requestTime) }
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
            if let response = error.response { core.clearSiteData(response, query.key) }
            if let response = error.response, error.code == .unacceptableStatus, response.status == .notModified,
                isValidation
            {
                // A loader below, such as `Validate`, takes the answer to the cache's own question for a failure.
                return perform(response, requestTime)
            }
            if case .completion = kind, error.code == .invalidResponse {
                // The engine has refused the answer to a range that only the cache has asked for.
                removeOlder(requestTime)
                return repeatPlainly()
            }
            // There is a new version, which would be fetched in vain, and not be seen, each time.
            if isInBackground, error.code == .bodyTooLarge { removeOlder(requestTime) }
            // A request that is lost may have changed the resource nevertheless.
            let inert: [HTTPError.Code] = [.cannotConnect, .invalidRequest, .unacceptableStatus]
            if !query.asked.method.isSafe, !inert.contains(error.code) { core.invalidate(query.key) }
            close()
            fail(error)
            core.end(self, error.code == .cancelled ? .cancelled : .failed(error, query.task.request))
        case .success(let response):
            core.clearSiteData(response, query.key)
            if response.isOutage, deliverFallback(else: result) { return core.end(self, .arrived) }
            perform(response, requestTime)
        }
    }

    /// Completes the task with an error, or with a stale response where that is allowed: RFC 5861, section 4.
    func fail(_ error: HTTPError) {
        let isOutage =
            [.cannotConnect, .connectionLost, .timedOut].contains(error.code)
            || error.code == .unacceptableStatus && error.response?.isOutage == true
        if isOutage, deliverFallback(else: .failure(error)) { return }
        query.task.complete(with: .failure(error))
    }

    private func deliverFallback(else result: HTTPResult) -> Bool {
        guard let stored, var reuse = fallback else { return false }
        close()
        let now = core.now()
        (reuse.age, reuse.isStale) = (
            stored.head.age(at: now) / 1_000, stored.head.staleness(at: now) >= 0
        )
        reuse.reason = .error
        core.count { $0.stale += 1 }
        let query = query
        core.deliver(stored, reuse, to: query, isDelivered: { (try? result.get())?.stream?.cancel() }) {
            switch result {
            case .success(let response): query.succeed(response)
            case .failure: _ = query.task.complete(with: result)
            }
        }
        return true
    }

    /// Called before the task is completed.
    func close() {
        if let shared { core.sharedFetches.close(shared) }
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

    /// Does what the rules say about a response.
    private func perform(_ response: HTTPResponse, _ requestTime: CacheInstant) {
        let verdict = judge(response, requestTime)
        let (key, store) = (query.key, core.store)
        if case .ignore = verdict {} else { overtakeOlder(response) }
        switch verdict {
        case .store(let head):
            core.count { $0.misses += 1 }
            keep(response, head)
        case .update(let head, let answers):
            guard let stored, let ticket else { preconditionFailure("an update of no response") }
            if head.mayBeStored { store.update(key, stored, head, ticket) }
            guard answers else {
                if !head.mayBeStored { removeOlder(requestTime) }
                core.count { $0.misses += 1 }
                return finish(response)
            }
            response.stream?.cancel()
            let confirmed = StoredResponse(head: head, body: stored.body, version: stored.version)
            if head.mayBeStored { return answer(confirmed) }
            // What was opened stays readable when it is removed.
            stored.body.read(0..<min(1, stored.head.extent.count)) { _ in
                removeOlder(requestTime)
                answer(confirmed)
            }
        case .append(let head):
            append(response, head)
        case .invalidate(let keys, let kept):
            for key in keys { core.invalidate(key) }
            guard let kept else { return finish(response) }
            var copy = self
            copy.ticket = core.begin(key, query.asked)
            copy.keep(response, kept)
        case .remove:
            core.count { $0.misses += 1 }
            removeOlder(requestTime)
            finish(response)
        case .repeatUnconditionally:
            response.stream?.cancel()
            removeOlder(requestTime)
            repeatPlainly()
        case .ignore:
            if ticket != nil { core.count { $0.misses += 1 } }
            finish(response)
        }
    }

    /// Keeps responses to earlier requests, which are still on their way, from being taken for the newest: stored when they
    /// come, or waited for. What is stored now may be gone by then.
    private func overtakeOlder(_ response: HTTPResponse) {
        if let ticket { core.tickets.overtake(query.key, ticket, response.headers) }
        core.sharedFetches.detach(query.key, overtakenBy: query.asked.headers, shared)
    }

    /// Removes all responses that could have been chosen for the request, but not those that were asked for later: RFC
    /// 9111, section 4.3.5.
    private func removeOlder(_ requestTime: CacheInstant) {
        guard let ticket else { return }
        let now = core.now()
        core.store.remove(query.key) { head in
            ticket.couldChoose(head) && !head.requestTime.isLater(than: requestTime, now: now)
        }
    }

    func finish(_ response: HTTPResponse) {
        close()
        query.succeed(response)
        core.end(self, .arrived)
    }

    /// Answers with a stored response that the server has confirmed.
    func answer(_ stored: StoredResponse) {
        close()
        core.count { $0.validated += 1 }
        let age = stored.head.age(at: core.now()) / 1_000
        let reuse = ReuseRules.Reuse(form: .whole, age: age, isStale: false, isConfirmed: true)
        if isInBackground {
            query.task.succeed(stored.head.status)
            return core.end(self, .arrived)
        }
        core.deliver(stored, reuse, to: query) {
            // This fetch has ended.
            var next = withoutConditions
            next.shared = nil
            query.task.execution.later { next.begin() }
        }
        core.end(self, .arrived)
    }

    /// Sends the request without conditions, since the stored response is of no use.
    func repeatPlainly() {
        query.task.execution.later { withoutConditions.send() }
    }

    private var withoutConditions: CacheFetch {
        var copy = self
        (copy.kind, copy.stored, copy.fallback) = (.plain, nil, nil)
        return copy
    }
}

extension HTTPResponse {
    /// True if the server has an error of its own, for which a stale response may stand: RFC 5861, section 4.
    fileprivate var isOutage: Bool { [500, 502, 503, 504].contains(status.code) }
}
