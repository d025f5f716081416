internal import DeferredCore
internal import DeferredHTTP
internal import DeferredNetworking
internal import Dispatch
internal import Foundation

extension CacheCore {
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
            copy.ticket = core.begin(query.key, query.asked)
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
                if let response = error.response { core.clearSiteData(response, query.key) }
                if let response = error.response, error.code == .unacceptableStatus, response.status == .notModified,
                    isValidation
                {
                    // A loader below, such as `Validate`, takes the answer to the cache's own question for a failure.
                    return perform(judge(response, requestTime), response, requestTime)
                }
                // A request that is lost may have changed the resource nevertheless.
                let inert: [HTTPError.Code] = [.cannotConnect, .invalidRequest, .bodyAlreadySent, .unacceptableStatus]
                if !query.asked.method.isSafe, !inert.contains(error.code) { core.invalidate(query.key) }
                close()
                fail(error)
                core.end(self, error.code == .cancelled ? .cancelled : .failed(error, query.task.request))
            case .success(let response):
                core.clearSiteData(response, query.key)
                if response.isOutage, deliverFallback(else: response) { return core.end(self, .arrived) }
                perform(judge(response, requestTime), response, requestTime)
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
            close()
            let now = core.now()
            (reuse.age, reuse.isStale) = (
                stored.head.age(at: now) / 1_000, stored.head.staleness(at: now) >= 0
            )
            reuse.reason = .error
            core.count { $0.stale += 1 }
            let source = HTTPResponse.Source.cache(age: .seconds(reuse.age), isStale: reuse.isStale)
            let query = query
            core.deliver(stored, reuse, source, to: query, isDelivered: { response?.stream?.cancel() }) {
                if let response {
                    query.task.complete(with: .success(response))
                } else if let error {
                    query.task.complete(with: .failure(error))
                }
            }
            return true
        }

        /// Called before the task is completed.
        private func close() {
            if let flight { core.flights.close(flight) }
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

        private func perform(
            _ verdict: StoringRules.Verdict,
            _ response: HTTPResponse,
            _ requestTime: CacheInstant
        ) {
            let (key, store) = (query.key, core.store)
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

        /// Removes all responses that could have been chosen for the request, but not those that were asked for later: RFC
        /// 9111, section 4.3.5.
        private func removeOlder(_ requestTime: CacheInstant) {
            guard let ticket else { return }
            let now = core.now()
            core.store.remove(query.key) { head in
                ticket.couldChoose(head) && !head.requestTime.isLater(than: requestTime, now: now)
            }
        }

        private func finish(_ response: HTTPResponse) {
            close()
            query.task.complete(with: .success(response))
            core.end(self, .arrived)
        }

        /// Answers with a stored response that the server has confirmed.
        private func answer(_ stored: StoredResponse) {
            close()
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
                query.task.execution.later { next.begin() }
            }
            core.end(self, .arrived)
        }

        /// Sends the request without conditions, since the stored response is of no use.
        private func repeatPlainly() {
            query.task.execution.later { withoutConditions.send() }
        }

        private var withoutConditions: Exchange {
            var copy = self
            (copy.kind, copy.stored, copy.fallback) = (.plain, nil, nil)
            return copy
        }

        /// Stores and delivers a response.
        private func keep(_ response: HTTPResponse, _ head: StoredHead) {
            if let stream = response.stream { return keep(response, stream, head) }
            if let file = response.file { return keep(response, file, head) }
            if let ticket, let head = head.completed(by: Int64(response.body.count)) {
                core.store.put(query.key, head, response.body, ticket)
            }
            finish(response)
        }

        /// Delivers a body that is stored while it is read.
        private func keep(_ response: HTTPResponse, _ stream: HTTPBodyStream, _ head: StoredHead) {
            // A cancellation that came with the head may have ended the body, which is for nobody else then.
            if query.task.isCancelled {
                close()
                query.task.complete(with: .success(response))
                return core.end(self, .cancelled)
            }
            guard let ticket, let writer = core.store.writer(query.key, head, ticket) else {
                removeSuperseded(by: head)
                return finish(response)
            }
            let own = share(stream, head, writer, ticket)
            query.task.complete(with: .success(response.with(body: .stream(own))))
        }

        /// Stores a body while it is read, and returns it for this request.
        ///
        /// - Parameter start: The number of bytes that the writer has already.
        private func share(
            _ stream: HTTPBodyStream,
            _ head: StoredHead,
            _ writer: any BodyWriter,
            _ ticket: ExchangeTicket,
            from start: Int64 = 0
        ) -> HTTPBodyStream {
            // Without the task, whose result has the stream: its release ends the transfer.
            let body = SharedBody(stream, head, writer, from: start, clock: core.clock) {
                [store = core.store, key = query.key] in
                // What the server has replaced must not be taken for the newest because there is no place for that.
                if !ticket.isVoid { store.remove(key) { head.supersedes($0, ticket) } }
            } onEnd: { [core, key = query.key, flight] in
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
            return own
        }

        /// Stores a copy of a file, before anybody else can change it.
        private func keep(_ response: HTTPResponse, _ file: URL, _ head: StoredHead) {
            let size = (try? FileManager.default.attributesOfItem(atPath: file.path))?[.size] as? Int64
            guard let size, size <= core.store.bodyLimit, let full = head.completed(by: size), let ticket,
                let writer = core.store.writer(query.key, full, ticket)
            else {
                removeSuperseded(by: head)
                return finish(response)
            }
            let copy = self
            DispatchQueue.global(qos: .userInitiated).async {
                if Self.copy(file, to: writer) == size {
                    writer.commit(full)
                } else {
                    writer.discard()
                    copy.removeSuperseded(by: head)
                }
                copy.finish(response)
            }
        }

        /// Removes what a response that can't be stored replaces: that is not the newest any more.
        private func removeSuperseded(by head: StoredHead) {
            guard let ticket, !ticket.isVoid else { return }
            core.store.remove(query.key) { head.supersedes($0, ticket) }
        }

        /// Returns the number of bytes that were copied, or -1 if not all of them could be.
        private static func copy(_ file: URL, to writer: any BodyWriter) -> Int64 {
            guard let handle = POSIXFile.handle(file.path, O_RDONLY) else { return -1 }
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

        /// Answers with a stored part and the rest that has been asked for.
        private func append(_ response: HTTPResponse, _ head: StoredHead) {
            if let stream = response.stream { return append(stream, head) }
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
                copy.answer(StoredResponse(head: head, body: BodyBytes(bytes), version: 0))
            }
        }

        private func append(_ stream: HTTPBodyStream, _ head: StoredHead) {
            guard let stored, let ticket, let writer = core.store.writer(query.key, head, ticket) else {
                stream.cancel()
                return repeatPlainly()
            }
            let copy = self
            // Whoever comes from now on has not waited for the head.
            close()
            query.beginWaiting { stream.cancel() }
            Self.copy(stored, from: 0, to: writer) { isCopied in
                copy.query.endWaiting()
                let isCancelled = copy.query.task.failIfCancelled()
                guard isCopied, !isCancelled else {
                    writer.discard()
                    stream.cancel()
                    return isCancelled ? copy.core.end(copy, .cancelled) : copy.repeatPlainly()
                }
                copy.core.count { $0.validated += 1 }
                let age = head.age(at: copy.core.now()) / 1_000
                let own = copy.share(stream, head, writer, ticket, from: stored.head.extent.count)
                let source = HTTPResponse.Source.validated(age: .seconds(age))
                let response = Delivery.response(head, own, age: age, source, copy.query.task.request)
                copy.query.task.complete(with: .success(response))
            }
        }

        /// Copies the bytes of a stored response, piece by piece, and calls `end` with whether that was possible.
        private static func copy(
            _ stored: StoredResponse,
            from start: Int64,
            to writer: any BodyWriter,
            _ end: @escaping @Sendable (Bool) -> Void
        ) {
            let piece = start..<min(start + 1 << 20, stored.head.extent.count)
            if piece.isEmpty { return end(true) }
            stored.body.read(piece) { bytes in
                guard let bytes, writer.append(bytes) else { return end(false) }
                copy(stored, from: piece.upperBound, to: writer, end)
            }
        }
    }
}

extension HTTPResponse {
    /// True if the server has an error of its own, for which a stale response may stand: RFC 5861, section 4.
    fileprivate var isOutage: Bool { [500, 502, 503, 504].contains(status.code) }
}

extension StoredHead {
    /// Returns the head with the number of bytes that have arrived; `nil` if they are not those that it announces.
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

    /// The number of bytes of the body as it is delivered; `nil` if it is known only at the end.
    var announcedLength: Int64? {
        headers["Content-Encoding"] == nil ? headers["Content-Length"].flatMap { HTTPNumber.parse($0) } : nil
    }

    /// Returns the head of the first bytes of this response; `nil` if the rest of it couldn't be asked for: RFC 9111,
    /// section 3.3.
    func beginning(_ count: Int64) -> StoredHead? {
        guard status == .ok, rangeValidator != nil, headers["Accept-Ranges"] != "none",
            let announcedLength, count > 0, count < announcedLength
        else { return nil }
        return with(headers, status: 206).with(extent: .init(first: 0, count: count, total: announcedLength))
    }
}
