internal import DeferredHTTP
internal import DeferredNetworking

/// A request in the form in which the rules need it.
struct CacheRequest: Sendable {
    /// The part of the representation that is asked for.
    enum Part: Sendable {
        case whole
        case range(RequestedRange)
        /// Several ranges, or another unit.
        case other
    }

    /// The client's own conditions.
    enum Conditions: Sendable, Equatable {
        case none
        /// `If-None-Match`, which `If-Modified-Since` gives way to.
        case noneMatch(String)
        case modifiedSince(String)
        /// Those that only the server can check, such as `If-Match`.
        case other
    }

    let method: HTTPMethod
    /// The fields, and the client that has them to itself.
    let headers: HTTPHeaders
    let directives: CacheDirectives
    let part: Part
    let conditions: Conditions

    init(_ request: HTTPRequest) {
        let parts = request.parts
        // A user in the URL becomes a credential below the cache, where it can't be seen.
        var passes = parts.user != nil || parts.password != nil
        var headers = request.headers
        // The resource of another host isn't that of the URL.
        if let host = headers["Host"], !parts.isHost(host) { passes = true }
        // With a credential, the response is that user's anyway, also in another process.
        if let owner = request[CacheOwnerOption.self], headers["Authorization"] == nil {
            headers[CacheOwnerOption.name] = owner
        }
        self.init(request.method, headers, request.cachePolicy, passes: passes)
    }

    /// The fields that are read here, in lower case. Most requests have none of them.
    private static let names: Set = [
        "cache-control", "pragma", "range", "if-match", "if-none-match", "if-modified-since", "if-unmodified-since",
    ]

    init(_ method: HTTPMethod, _ headers: HTTPHeaders, _ policy: CachePolicy = .standard, passes: Bool = false) {
        self.method = method
        self.headers = headers
        let own = HTTPHeaders(headers.fields.filter { Self.names.contains($0.name.lowercased()) })
        var directives = CacheDirectives(own)
        if own["Cache-Control"] == nil, let pragma = own["Pragma"],
            FieldList.members(of: pragma).contains(where: { $0.lowercased() == "no-cache" })
        {
            directives.flags.insert(.noCache)
        }
        switch policy {
        case .standard: break
        case .validate: directives.maxAge = 0
        case .reload: directives.flags.insert(.noCache)
        case .onlyCached: directives.flags.insert(.onlyIfCached)
        case .anyAge:
            directives.flags.insert(.onlyIfCached)
            directives.maxStale = CacheDirectives.unlimited
        case .bypass: directives.flags.insert(.noStore)
        }
        if passes { directives.flags.insert(.noStore) }
        self.directives = directives
        if let range = own["Range"], method == .get {
            part = RequestedRange(range).map(Part.range) ?? .other
        } else {
            part = .whole
        }
        if own["If-Match"] != nil || own["If-Unmodified-Since"] != nil {
            conditions = .other
        } else if let list = own.combined("If-None-Match") {
            conditions = .noneMatch(list)
        } else if let date = own["If-Modified-Since"] {
            conditions = .modifiedSince(date)
        } else {
            conditions = .none
        }
    }

    /// The field that tells the caches on the way to the server what the policy tells this one.
    static func field(for policy: CachePolicy) -> String? {
        switch policy {
        case .validate: "max-age=0"
        case .reload: "no-cache"
        case .bypass: "no-store"
        case .standard, .onlyCached, .anyAge: nil
        }
    }
}

extension URLParts {
    /// True if a field `Host` with this value names the URL's own host.
    fileprivate func isHost(_ value: String) -> Bool {
        host.map { host in HTTPToken.areEqualWithoutCase(value, port.map { "\(host):\($0)" } ?? host) } ?? false
    }
}
