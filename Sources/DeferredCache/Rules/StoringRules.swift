internal import DeferredHTTP
internal import DeferredNetworking
internal import Foundation

/// The storing of responses: RFC 9111, sections 3 and 4.3 to 4.4, as a pure function.
enum StoringRules {
    /// An exchange with the server that is to be judged.
    struct Exchange: Sendable {
        let request: CacheRequest
        let key: CacheKey
        let salt: [UInt8]
        /// The stored response to which the request's conditions belong, or of which it asks the rest, or which has the
        /// same variant.
        let stored: StoredHead?
        /// The conditions in the request are the cache's own, and the client knows nothing of them.
        var isValidation = false
        let requestTime: CacheInstant
        let responseTime: CacheInstant
        let status: HTTPStatus
        let headers: HTTPHeaders
        /// The URL from which the response came, after redirects.
        let url: URL?
        /// The fields of the request as it was sent, with those that loaders after the cache have added.
        let sentHeaders: HTTPHeaders
    }

    enum Verdict: Sendable {
        /// To be stored with the body that follows.
        case store(StoredHead)
        /// The stored response gets these fields. `answers` is true if it answers the request; otherwise the server's
        /// response does.
        case update(StoredHead, answers: Bool)
        /// The body that follows is the rest of the stored one.
        case append(StoredHead)
        /// The stored responses with these keys are no longer right. `stores` is not nil if the response itself is to be
        /// stored after that.
        case invalidate([CacheKey], stores: StoredHead?)
        /// The stored response is no longer right, and the new one is not stored.
        case remove
        /// The server's answer to the cache's own condition makes no sense: the request has to be sent without it.
        case repeatUnconditionally
        case ignore
    }

    static func judge(_ exchange: Exchange) -> Verdict {
        let request = exchange.request
        if !request.method.isSafe { return invalidation(exchange) }
        guard request.method == .get || request.method == .head else { return .ignore }
        // Neither is the rest of a part, nor all of it. Some servers give the rest as a 200.
        if isCompletion(exchange),
            exchange.status == .notModified || exchange.status == .ok && exchange.headers["Content-Range"] != nil
        {
            return .repeatUnconditionally
        }
        // After a redirect, it tells nothing about what is stored: RFC 9111, section 4.3.3. If it answers the cache's
        // own condition or range, the client can't use it either. Nor does what was said to a request that loaders below
        // the cache have changed.
        guard isSameResource(exchange), isAsAsked(exchange), hasSoundFields(exchange) else {
            let answersConditions = exchange.isValidation && [206, 304, 412, 416].contains(exchange.status.code)
            return answersConditions ? .repeatUnconditionally : .ignore
        }
        if exchange.status == .notModified { return freshening(exchange) }
        if request.method == .head { return headUpdate(exchange) }
        if exchange.isValidation, exchange.status == 206, case .whole = request.part { return completion(exchange) }
        if exchange.isValidation, isRefusal(exchange), case .whole = request.part { return .repeatUnconditionally }
        if exchange.headers["Content-Range"] != nil, exchange.status == 206, let stored = exchange.stored,
            stored.extent.isWhole, let tag = stored.etag, tag.isStrong, tag == EntityTag(exchange.headers["ETag"])
        {
            // A part of what is there: only its fields are new.
            return .update(stored.updated(by: exchange), answers: false)
        }
        if isPartIgnored(exchange), let stored = exchange.stored,
            hasSameValidators(stored, exchange.headers, needsOne: true)
        {
            // The whole of what is there: a server may answer so to a part that it doesn't have.
            return stored.etag?.isStrong == true ? .update(stored.updated(by: exchange), answers: false) : .ignore
        }
        if isRefusal(exchange), let stored = exchange.stored,
            hasSameValidators(stored, exchange.headers, needsOne: true)
        {
            return .ignore
        }
        if let head = storable(exchange) { return .store(head) }
        // A server in trouble says nothing about what is stored. Otherwise, an older response may be stored, or may be on its
        // way, since the request was sent.
        return exchange.status.isServerError ? .ignore : .remove
    }

    // MARK: Storing

    /// Returns the head to store; `nil` for a response that must not be stored, or would be of no use.
    private static func storable(_ exchange: Exchange) -> StoredHead? {
        let (status, headers) = (exchange.status, exchange.headers)
        guard mayStore(exchange), !isRefusal(exchange), hasSoundFields(exchange),
            let variant = variant(of: exchange),
            let extent = extent(of: exchange)
        else { return nil }
        let head = StoredHead(
            status: status,
            headers: StoredHead.storable(headers),
            variant: variant,
            extent: extent,
            requestTime: exchange.requestTime,
            responseTime: exchange.responseTime,
            ageValue: StoredHead.age(of: headers)
        )
        let isAllowed =
            head.isLifetimeExplicit || head.directives.flags.contains(.isPublic)
            || StoredHead.heuristicStatuses.contains(status.code)
        // Most responses of an API have neither a lifetime nor a validator. They are stale from the beginning, and yet the
        // answer to a client that is offline.
        let isUseful =
            head.isLifetimeExplicit || head.lifetime > 0 || !head.conditions.isEmpty
            || head.directives.staleIfError != nil
            || status == .ok && head.directives.flags.isDisjoint(with: [.noCache, .mustRevalidate])
        guard isAllowed, isUseful else { return nil }
        // The part is the whole.
        return status == 206 && extent.isWhole ? head.with(extent: extent) : head
    }

    /// False if a loader has made what no server can send: stored as text, it couldn't be told from other fields.
    private static func hasSoundFields(_ exchange: Exchange) -> Bool {
        let lineFeed = UInt8(ascii: "\n")
        return !exchange.headers.contains { $0.name.utf8.contains(lineFeed) || $0.value.utf8.contains(lineFeed) }
    }

    private static func mayStore(_ exchange: Exchange) -> Bool {
        guard exchange.status.code >= 200, !exchange.request.directives.flags.contains(.noStore) else { return false }
        return mayStore(exchange.status.code, CacheDirectives(exchange.headers).flags)
    }

    fileprivate static func mayStore(_ status: Int, _ given: CacheDirectives.Flags) -> Bool {
        // RFC 9111, section 5.2.2.3: whoever understands the status may pass over no-store.
        if given.contains(.mustUnderstand) { return understoodStatuses.contains(status) }
        return !given.contains(.noStore)
    }

    /// The statuses whose meaning for caches is implemented.
    private static let understoodStatuses: Set<Int> = [
        200, 203, 204, 206, 300, 301, 302, 303, 307, 308, 404, 405, 410, 414, 501,
    ]

    /// A client below the cache may follow redirects: what it delivers is not the response of this URL.
    private static func isSameResource(_ exchange: Exchange) -> Bool {
        guard let url = exchange.url else { return true }
        return CacheKey(URLParts(url), partition: exchange.key.partition) == exchange.key
    }

    /// Returns false if loaders after the cache have added to the request, or changed, what the response is for: the credential,
    /// with which all users would get the first one's response, the host, or a field by which responses differ.
    private static func isAsAsked(_ exchange: Exchange) -> Bool {
        // What the cache itself has added, no loader has.
        let own = [CacheOwnerOption.name] + (exchange.isValidation ? FetchKey.extent : [])
        let (asked, sent) = (exchange.request.headers.without(own), exchange.sentHeaders.without(own))
        func isAsAsked(_ name: String) -> Bool { asked.combined(name) == sent.combined(name) }
        let isPublic =
            CacheDirectives(exchange.headers).flags.contains(.isPublic)
            || exchange.status == .notModified && exchange.stored?.directives.flags.contains(.isPublic) == true
        let vary = FieldList.members(of: exchange.headers.combined("Vary") ?? "").map(String.init)
        let names = vary + (exchange.stored?.variant.names ?? [])
        return isAsAsked("Host") && (isPublic || isAsAsked("Authorization")) && names.allSatisfy(isAsAsked)
    }

    /// Returns the variant; `nil` if it can't be known.
    private static func variant(of exchange: Exchange) -> Variant? {
        let isPublic = CacheDirectives(exchange.headers).flags.contains(.isPublic)
        let asked = exchange.request.headers
        // An answer by Digest is another one for each request, so that the response would never be found.
        if !isPublic, asked["Authorization"]?.lowercased().hasPrefix("digest ") == true { return nil }
        return Variant(of: exchange.headers, to: asked, isPublic: isPublic, salt: exchange.salt)
    }

    /// Returns whether the server has answered a request for a part with everything.
    private static func isPartIgnored(_ exchange: Exchange) -> Bool {
        if case .whole = exchange.request.part { false } else { exchange.status == .ok }
    }

    /// Returns whether the server has refused the request's range or condition, which other requests don't have.
    private static func isRefusal(_ exchange: Exchange) -> Bool { exchange.status == 412 || exchange.status == 416 }

    /// Returns the bytes that the response has; the length of a whole one is only known at its end.
    private static func extent(of exchange: Exchange) -> StoredHead.Extent? {
        guard exchange.status == 206 else {
            // What a server that ignores a range answers belongs to another request.
            if isPartIgnored(exchange) { return nil }
            return StoredHead.Extent(count: -1, total: -1)
        }
        guard case .range(let wanted) = exchange.request.part, exchange.headers["Content-Encoding"] == nil,
            let range = exchange.headers["Content-Range"].flatMap(ContentRange.init), let bytes = range.bytes,
            let total = range.total, exchange.headers.values(for: "Content-Range").count == 1,
            wanted.allows(bytes, of: total)
        else { return nil }
        return StoredHead.Extent(first: bytes.lowerBound, count: Int64(bytes.count), total: total)
    }

    // MARK: Updating

    /// A 304: RFC 9111, section 4.3.4.
    private static func freshening(_ exchange: Exchange) -> Verdict {
        guard let stored = exchange.stored else { return .ignore }
        if exchange.isValidation {
            guard hasSameValidators(stored, exchange.headers, needsOne: false) else { return .repeatUnconditionally }
            return .update(stored.updated(by: exchange), answers: true)
        }
        // To the client's condition: only a validator tells whether it is about the stored response.
        guard hasSameValidators(stored, exchange.headers, needsOne: true) else { return .ignore }
        return .update(stored.updated(by: exchange), answers: false)
    }

    private static func hasSameValidators(_ stored: StoredHead, _ headers: HTTPHeaders, needsOne: Bool) -> Bool {
        if let tag = EntityTag(headers["ETag"]) { return stored.etag.map(tag.weaklyMatches) ?? false }
        if let modified = headers["Last-Modified"] { return modified == stored.lastModified }
        return !needsOne
    }

    /// RFC 9111, section 4.3.5.
    private static func headUpdate(_ exchange: Exchange) -> Verdict {
        guard let stored = exchange.stored, stored.extent.isWhole else { return .ignore }
        guard exchange.status == stored.status else {
            return exchange.status.isServerError || exchange.status.isRedirection ? .ignore : .remove
        }
        // Without a validator, it doesn't tell whether it is about the same body.
        let isAbout = EntityTag(exchange.headers["ETag"]) != nil || exchange.headers["Last-Modified"] != nil
        let length = exchange.headers["Content-Length"]
        let isSame =
            hasSameValidators(stored, exchange.headers, needsOne: false)
            && (length == nil || stored.headers["Content-Length"] == nil || length == stored.headers["Content-Length"])
        if !isSame || CacheDirectives(exchange.headers).flags.contains(.noStore) { return .remove }
        return isAbout ? .update(stored.updated(by: exchange), answers: false) : .ignore
    }

    /// Returns whether the request is for the rest of a stored part, while the client has asked for all.
    private static func isCompletion(_ exchange: Exchange) -> Bool {
        guard exchange.isValidation, case .whole = exchange.request.part, let stored = exchange.stored else {
            return false
        }
        return !stored.extent.isWhole
    }

    /// The rest of a part: RFC 9111, section 3.4.
    private static func completion(_ exchange: Exchange) -> Verdict {
        guard let stored = exchange.stored, stored.status == 206,
            let range = exchange.headers["Content-Range"].flatMap(ContentRange.init), let bytes = range.bytes,
            exchange.headers["Content-Encoding"] == nil, mayStore(exchange),
            bytes.lowerBound == stored.extent.count, range.total == stored.extent.total,
            bytes.upperBound == stored.extent.total - 1, hasSameValidators(stored, exchange.headers, needsOne: true)
        else { return .repeatUnconditionally }
        let whole = StoredHead.Extent(count: stored.extent.total, total: stored.extent.total)
        return .append(stored.updated(by: exchange).with(extent: whole))
    }

    // MARK: Invalidating

    /// RFC 9111, section 4.4.
    private static func invalidation(_ exchange: Exchange) -> Verdict {
        guard exchange.status.isSuccess || exchange.status.isRedirection else { return .ignore }
        var keys = [exchange.key]
        for name in ["Location", "Content-Location"] {
            for value in exchange.headers.values(for: name) {
                guard let key = exchange.key.resolving(value, against: exchange.url), key.hasOrigin(of: exchange.key),
                    !keys.contains(key)
                else { continue }
                keys.append(key)
            }
        }
        return .invalidate(keys, stores: reusableByGet(exchange))
    }

    /// A response to a POST that says that it is what a GET would give: RFC 9110, section 9.3.3.
    private static func reusableByGet(_ exchange: Exchange) -> StoredHead? {
        guard exchange.request.method == .post, exchange.status == .ok,
            exchange.key.resolving(exchange.headers["Content-Location"], against: exchange.url) == exchange.key,
            isSameResource(exchange), isAsAsked(exchange), let head = storable(exchange), head.isLifetimeExplicit
        else { return nil }
        return head
    }
}

extension StoredHead {
    /// False for a stored response that a newer one has forbidden to store.
    var mayBeStored: Bool { StoringRules.mayStore(status.code, directives.flags) }
}
