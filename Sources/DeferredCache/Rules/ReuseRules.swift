internal import DeferredHTTP
internal import DeferredNetworking

/// The use of a stored response for a request: RFC 9111, section 4, as a pure function.
enum ReuseRules {
    /// A stored response as it is to be delivered.
    struct Reuse: Sendable, Equatable {
        enum Form: Sendable, Equatable {
            case whole
            /// The bytes of the representation at these positions, as a 206.
            case part(Range<Int64>)
            /// A 304 to the client's own condition.
            case notModified
        }

        var form: Form
        /// In seconds, as for the field `Age`.
        var age: Int64
        var isStale: Bool
        /// True if the server is to be asked meanwhile: `stale-while-revalidate`, RFC 5861, section 3.
        var revalidates = false
        /// The reason for which it may be stale.
        var reason = HTTPResponse.StaleReason.fetched
        /// True if the server has just confirmed it.
        var isConfirmed = false

        var source: HTTPResponse.Source {
            isConfirmed ? .validated(age: .seconds(age)) : .cache(age: .seconds(age), isStale: isStale)
        }

        var staleReason: HTTPResponse.StaleReason? { isStale ? reason : nil }
    }

    /// The request for the part that is missing of a stored one.
    struct Completion: Sendable, Equatable {
        /// The number of bytes that are there.
        var count: Int64
        var validator: String
    }

    enum Decision: Sendable, Equatable {
        case reuse(Reuse)
        /// The server has to be asked, with the conditions of the stored response. The response from the cache is for
        /// the case that it can't answer: RFC 5861, section 4.
        case validate(Reuse?)
        case complete(Completion)
        /// The server has to be asked as the client does; the response is for the same case.
        case forward(Reuse?)
        /// The client forbids to ask the server.
        case unavailable
    }

    /// Decides about a request.
    ///
    /// - Parameters:
    ///   - head: The stored response that matches the request, if there is one.
    ///   - servesErrors: Whether a stale response may stand for an error without a directive that allows it.
    ///   - isJustFetched: Whether the response has arrived while the request waited for it, so that it needs no
    ///     lifetime: RFC 9111, section 4, allows one response to answer all that waited for it.
    static func decide(
        _ request: CacheRequest,
        _ head: StoredHead?,
        now: CacheInstant,
        servesErrors: Bool = false,
        isJustFetched: Bool = false
    ) -> Decision {
        let decision = decide(request, head, now, servesErrors, isJustFetched)
        guard request.directives.flags.contains(.onlyIfCached) else { return decision }
        if case .reuse(var reuse) = decision {
            reuse.revalidates = false
            return .reuse(reuse)
        }
        return .unavailable
    }

    private static func decide(
        _ request: CacheRequest,
        _ head: StoredHead?,
        _ now: CacheInstant,
        _ servesErrors: Bool,
        _ isJustFetched: Bool
    ) -> Decision {
        guard request.method == .get || request.method == .head, request.conditions != .other,
            !request.directives.flags.contains(.noStore), let head
        else { return .forward(nil) }
        guard let form = form(for: request, head) else { return completion(request, head) ?? .forward(nil) }
        var reuse = Reuse(form: form, age: head.age(at: now) / 1_000, isStale: head.staleness(at: now) >= 0)
        switch permission(request, head, now, isJustFetched) {
        case .fresh:
            return .reuse(reuse)
        case .stale(let revalidates):
            reuse.revalidates = revalidates
            reuse.reason = revalidates ? .revalidation : .asked
            return .reuse(reuse)
        case .no:
            let fallback = mayServeErrors(request, head, now, servesErrors) ? reuse : nil
            // With conditions of its own, the client wants to validate what it has, and not what is here.
            guard request.conditions == .none, case .whole = form, !head.conditions.isEmpty, head.extent.isWhole else {
                return .forward(fallback)
            }
            return .validate(fallback)
        }
    }

    // MARK: Freshness

    private enum Permission {
        case fresh
        case stale(revalidates: Bool)
        case no
    }

    private static func permission(
        _ request: CacheRequest,
        _ head: StoredHead,
        _ now: CacheInstant,
        _ isJustFetched: Bool
    ) -> Permission {
        let (wanted, given) = (request.directives, head.directives)
        let (age, staleness) = (head.age(at: now), head.staleness(at: now))
        if wanted.flags.contains(.noCache) || given.flags.contains(.noCache) { return .no }
        if isJustFetched { return .fresh }
        let isFresh = staleness < 0
        if let maxAge = wanted.maxAge, age > maxAge * 1_000 || maxAge == 0 {
            // A response that never changes while it is fresh needs no reload: RFC 8246.
            if !(isFresh && given.flags.contains(.immutable)) { return .no }
        }
        if let minFresh = wanted.minFresh, staleness > -minFresh * 1_000 { return .no }
        if isFresh { return .fresh }
        if given.flags.contains(.mustRevalidate) { return .no }
        if let maxStale = wanted.maxStale, staleness <= maxStale * 1_000 || maxStale == CacheDirectives.unlimited {
            return .stale(revalidates: false)
        }
        if let window = given.staleWhileRevalidate, staleness < window * 1_000, wanted.maxAge == nil,
            wanted.minFresh == nil
        {
            return .stale(revalidates: true)
        }
        return .no
    }

    private static func mayServeErrors(
        _ request: CacheRequest,
        _ head: StoredHead,
        _ now: CacheInstant,
        _ servesErrors: Bool
    ) -> Bool {
        let (wanted, given) = (request.directives, head.directives)
        // A client that insists on the server wants its error, too.
        guard !given.flags.contains(.mustRevalidate), !given.flags.contains(.noCache),
            !wanted.flags.contains(.noCache), wanted.maxAge == nil, wanted.minFresh == nil
        else { return false }
        if servesErrors { return true }
        let window = max(given.staleIfError ?? 0, wanted.staleIfError ?? 0)
        return window > 0 && head.staleness(at: now) < window * 1_000
    }

    // MARK: Form

    /// Returns what of the stored response answers the request; `nil` if it can't.
    private static func form(for request: CacheRequest, _ head: StoredHead) -> Reuse.Form? {
        if case .other = request.part { return nil }
        if case .range(let range) = request.part, head.hasRanges {
            if let field = request.headers["If-Range"], !matches(field, head) {
                // Another version: the client wants all of it.
                return head.extent.isWhole ? .whole : nil
            }
            guard request.conditions == .none else { return nil }
            guard let part = range.part(of: head.extent.total), head.extent.range.contains(part.lowerBound),
                part.upperBound <= head.extent.range.upperBound
            else { return nil }
            return .part(part)
        }
        guard head.extent.isWhole, head.status != 206 else { return nil }
        if case .range = request.part { return nil }
        return notModified(request, head) ? .notModified : .whole
    }

    /// RFC 9110, section 13.1.5: by strong comparison.
    private static func matches(_ field: String, _ head: StoredHead) -> Bool {
        guard let validator = head.rangeValidator else { return false }
        return FieldList.trimmed(Substring(field)) == validator[...]
    }

    /// Evaluates the client's own conditions: RFC 9111, section 4.3.2.
    private static func notModified(_ request: CacheRequest, _ head: StoredHead) -> Bool {
        guard head.status == .ok else { return false }
        switch request.conditions {
        case .none, .other:
            return false
        case .noneMatch(let list):
            return FieldList.trimmed(Substring(list)) == "*" || head.etag?.isIn(list) == true
        case .modifiedSince(let field):
            guard let since = HTTPDate.seconds(field, now: head.responseTime.seconds) else { return false }
            return (head.lastModifiedSeconds ?? head.date) <= since
        }
    }

    /// Asks for the rest, if the beginning is there: RFC 9111, section 3.4.
    private static func completion(_ request: CacheRequest, _ head: StoredHead) -> Decision? {
        guard request.method == .get, case .whole = request.part, request.conditions == .none, head.status == 206,
            head.hasRanges, head.extent.first == 0, !head.extent.isWhole, let validator = head.rangeValidator
        else { return nil }
        return .complete(Completion(count: head.extent.count, validator: validator))
    }
}
