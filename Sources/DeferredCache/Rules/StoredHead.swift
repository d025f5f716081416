internal import DeferredNetworking

/// A stored response without its body, in the form in which the rules need it: parsed once, when it is stored.
///
/// An object, since it is passed on often.
final class StoredHead: Sendable {
    /// The bytes that are stored of a representation.
    struct Extent: Sendable, Equatable {
        /// The position of the first byte in the representation.
        var first: Int64 = 0
        /// The number of bytes that are stored.
        var count: Int64
        /// The number of all bytes of the representation.
        var total: Int64

        var isWhole: Bool { first == 0 && count == total }
        var range: Range<Int64> { first..<first + count }
    }

    /// Everything but the fields, and what most uses need of those.
    struct Facts: Sendable {
        fileprivate(set) var status: HTTPStatus
        fileprivate(set) var variant: Variant
        fileprivate(set) var extent: Extent
        /// The times at which the request was sent and the response arrived.
        fileprivate(set) var requestTime: CacheInstant
        fileprivate(set) var responseTime: CacheInstant
        fileprivate(set) var directives = CacheDirectives()
        /// The time for which the response is fresh, in seconds: RFC 9111, section 4.2.1.
        fileprivate(set) var lifetime: UInt32 = 0
        /// The field `Age`, in seconds.
        fileprivate(set) var ageValue: UInt32
        /// The age at its arrival, in milliseconds: RFC 9111, section 4.2.3.
        fileprivate(set) var initialAge: Int64 = 0
    }

    let facts: Facts
    /// The fields, without `Age` and those that are for one connection only.
    let headers: HTTPHeaders

    /// Creates a head that was parsed before.
    init(_ facts: Facts, _ headers: HTTPHeaders) {
        self.facts = facts
        self.headers = headers
    }

    init(
        status: HTTPStatus,
        headers: HTTPHeaders,
        variant: Variant,
        extent: Extent,
        requestTime: CacheInstant,
        responseTime: CacheInstant,
        ageValue: Int64
    ) {
        var facts = Facts(
            status: status,
            variant: variant,
            extent: extent,
            requestTime: requestTime,
            responseTime: responseTime,
            directives: CacheDirectives(headers),
            ageValue: UInt32(clamping: ageValue)
        )
        let arrival = responseTime.seconds
        let sent = headers["Date"].flatMap { HTTPDate.seconds($0, now: arrival) }
        let date = sent ?? arrival
        let apparentAge = max(0, responseTime.wall - date * 1_000)
        let delay = responseTime.time(since: requestTime)
        facts.initialAge = max(sent == nil ? 0 : apparentAge, ageValue * 1_000 + delay)
        if let maxAge = facts.directives.maxAge {
            facts.lifetime = UInt32(clamping: maxAge)
        } else if let expires = headers["Expires"] {
            // An invalid date, such as 0, means that the response has expired.
            let until = headers.values(for: "Expires").count == 1 ? HTTPDate.seconds(expires, now: arrival) : nil
            facts.lifetime = until.map { UInt32(clamping: $0 - date) } ?? 0
        } else {
            let modified = headers["Last-Modified"].flatMap { HTTPDate.seconds($0, now: arrival) }
            facts.lifetime = UInt32(clamping: Self.guessedLifetime(status, facts.directives, date, modified))
        }
        self.facts = facts
        self.headers = headers
    }

    var status: HTTPStatus { facts.status }
    var variant: Variant { facts.variant }
    var extent: Extent { facts.extent }
    var requestTime: CacheInstant { facts.requestTime }
    var responseTime: CacheInstant { facts.responseTime }
    var directives: CacheDirectives { facts.directives }
    var lifetime: Int64 { Int64(facts.lifetime) }
    var initialAge: Int64 { facts.initialAge }
    var ageValue: Int64 { Int64(facts.ageValue) }
    var isPublic: Bool { directives.flags.contains(.isPublic) }
    /// True if the lifetime comes from the server, and is no guess.
    var isLifetimeExplicit: Bool { directives.maxAge != nil || headers["Expires"] != nil }

    /// The fields with one for the age at the end.
    func headers(withAge age: Int64) -> HTTPHeaders {
        var result = headers
        // None of those that are stored.
        result.add(name: "Age", value: String(age))
        return result
    }

    /// The statuses whose responses may be stored without the server's saying so: RFC 9110, section 15.1.
    static let heuristicStatuses: Set<Int> = [200, 203, 204, 206, 300, 301, 308, 404, 405, 410, 414, 501]

    /// A tenth of the time since the last change, and a week at most: RFC 9111, section 4.2.2.
    private static func guessedLifetime(
        _ status: HTTPStatus,
        _ directives: CacheDirectives,
        _ date: Int64,
        _ modified: Int64?
    ) -> Int64 {
        guard let modified, heuristicStatuses.contains(status.code) || directives.flags.contains(.isPublic) else {
            return 0
        }
        return min(max(0, (date - modified) / 10), 7 * 86_400)
    }

    // MARK: Age

    /// The age in milliseconds: RFC 9111, section 4.2.3.
    func age(at now: CacheInstant) -> Int64 { facts.age(at: now) }

    /// The time since the end of the lifetime in milliseconds; negative for a fresh response. After a clock was set
    /// back, the longest there is.
    func staleness(at now: CacheInstant) -> Int64 { facts.staleness(at: now) }

    // MARK: Validators

    /// The date of the response in seconds since 1970.
    var date: Int64 {
        headers["Date"].flatMap { HTTPDate.seconds($0, now: responseTime.seconds) } ?? responseTime.seconds
    }

    /// The seconds since 1970 of `Last-Modified`, if it is a date.
    var lastModifiedSeconds: Int64? { lastModified.flatMap { HTTPDate.seconds($0, now: responseTime.seconds) } }

    var etag: EntityTag? { EntityTag(headers["ETag"]) }
    var lastModified: String? { headers["Last-Modified"] }

    /// The value for `If-Range`: a strong tag or, without a tag, a date before that of the response.
    var rangeValidator: String? {
        if let etag { return etag.isStrong ? etag.text : nil }
        guard let lastModifiedSeconds, headers["Date"] != nil, date - lastModifiedSeconds >= 1 else { return nil }
        return lastModified
    }

    /// The fields that ask the server whether the response is still right: RFC 9111, section 4.3.1.
    var conditions: [HTTPHeaders.Field] {
        var result: [HTTPHeaders.Field] = []
        if let etag { result.append(.init(name: "If-None-Match", value: etag.text)) }
        if let lastModified { result.append(.init(name: "If-Modified-Since", value: lastModified)) }
        return result
    }

    /// True if parts of the body can be delivered. A body that had a coding is stored decoded, but what the server calls
    /// a range is one of the encoded bytes.
    var hasRanges: Bool { (status == .ok || status == 206) && headers["Content-Encoding"] == nil }

    // MARK: Choosing

    /// Returns whether the response may be chosen for a request with these fields: RFC 9111, section 4.1.
    func isFor(_ fields: HTTPHeaders, salt: [UInt8]) -> Bool {
        variant.matches(fields, isPublic: isPublic, salt: salt)
    }

    // MARK: Changed

    /// Returns whether a stored response must not be chosen any more once this one is stored: it could have been chosen for
    /// the same request, or could only be chosen where this one can, as far as the fields tell that both depend on.
    ///
    /// Otherwise it would come back, as fresh as it may be, when this one is gone.
    func supersedes(_ other: StoredHead, _ ticket: FetchTicket) -> Bool {
        if variant == other.variant || ticket.replaces(other, isPublic: isPublic) { return true }
        if other.variant.isOwned, isPublic || !variant.isOwned { return isPublic }
        return Set(variant.names).isStrictSubset(of: other.variant.names)
    }

    /// Returns whether a stored response goes when this one is there, stored or not: it is outdated.
    ///
    /// - Parameter isNewest: Whether the ticket allows this one. It tells what is older among those of one millisecond.
    func outlives(_ other: StoredHead, _ ticket: FetchTicket, isNewest: Bool, now: CacheInstant) -> Bool {
        guard supersedes(other, ticket) else { return false }
        // A response to a later request is newer, although it came first.
        guard isNewest ? !other.isNewer(than: self, now: now) : isNewer(than: other, now: now) else { return false }
        // Nothing is gained by a part of what is there as a whole.
        guard !extent.isWhole, other.extent.isWhole, let etag, let otherTag = other.etag else { return true }
        return !etag.stronglyMatches(otherTag)
    }

    /// Returns whether the request was sent after that of another response.
    func isNewer(than other: StoredHead, now: CacheInstant) -> Bool {
        requestTime.isLater(than: other.requestTime, now: now)
    }

    /// Returns this with the fields of a newer response, except those that describe the stored body: RFC 9111, section
    /// 3.2.
    func updated(by newer: StoringRules.Exchange) -> StoredHead {
        var kept = ["Content-Length", "Content-Encoding", "Content-Range", "Content-MD5", "Vary"]
        // They match weakly: the stored bytes need not be those of the strong tag. RFC 9111, section 4.3.4.
        if let etag, !etag.isStrong, EntityTag(newer.headers["ETag"])?.isStrong == true { kept.append("ETag") }
        var fresh = Self.storable(newer.headers)
        fresh.fields.removeAll { field in kept.contains { field.isNamed($0) } }
        var headers = headers
        headers.fields.removeAll { field in fresh.fields.contains { field.isNamed($0.name) } }
        headers.fields += fresh.fields
        return StoredHead(
            status: status,
            headers: headers,
            variant: variant,
            extent: extent,
            requestTime: newer.requestTime,
            responseTime: newer.responseTime,
            ageValue: Self.age(of: newer.headers)
        )
    }

    /// Returns this with other bytes of the same representation, all of them if they are all there.
    func with(extent: Extent) -> StoredHead {
        guard status == 206 else { return with(headers, extent: extent) }
        var headers = headers
        headers["Content-Range"] =
            extent.isWhole ? nil : "bytes \(extent.first)-\(extent.range.upperBound - 1)/\(extent.total)"
        if headers["Content-Length"] != nil { headers["Content-Length"] = String(extent.count) }
        return with(headers, extent: extent, status: extent.isWhole ? .ok : 206)
    }

    /// Returns this with other fields.
    func with(_ headers: HTTPHeaders, extent: Extent? = nil, status: HTTPStatus? = nil) -> StoredHead {
        StoredHead(
            status: status ?? self.status,
            headers: headers,
            variant: variant,
            extent: extent ?? self.extent,
            requestTime: requestTime,
            responseTime: responseTime,
            ageValue: ageValue
        )
    }

    /// Returns the fields that may be stored: RFC 9111, section 3.1.
    static func storable(_ headers: HTTPHeaders) -> HTTPHeaders {
        var names = [
            "Age", "Connection", "Keep-Alive", "Proxy-Authenticate", "Proxy-Authentication-Info", "Proxy-Authorization",
            "Proxy-Connection", "TE", "Trailer", "Transfer-Encoding", "Upgrade",
        ]
        if let listed = headers.combined("Connection") { names += FieldList.members(of: listed).map(String.init) }
        var kept: [HTTPHeaders.Field] = []
        // Most are kept, for as long as the response is stored: in no more memory than they take.
        kept.reserveCapacity(headers.count)
        for field in headers.fields where !names.contains(where: { field.isNamed($0) }) { kept.append(field) }
        return HTTPHeaders(kept)
    }

    /// Returns the field `Age` in seconds; 0 if it is missing or malformed. Of several, the first counts.
    static func age(of headers: HTTPHeaders) -> Int64 {
        guard let field = headers["Age"], let first = FieldList.members(of: field).first,
            HTTPNumber.isValid(first)
        else { return 0 }
        return min(HTTPNumber.parse(first) ?? CacheDirectives.longest, CacheDirectives.longest)
    }
}

extension StoredHead.Facts {
    fileprivate func age(at now: CacheInstant) -> Int64 { initialAge + now.time(since: responseTime) }

    func staleness(at now: CacheInstant) -> Int64 {
        // The wall clock was set back, so that the time since then can't be known.
        now.wall < responseTime.wall ? .max : age(at: now) - Int64(lifetime) * 1_000
    }
}
