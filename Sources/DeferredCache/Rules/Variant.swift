internal import DeferredHTTP

extension HTTPHeaders {
    /// Returns the fields but those with some names.
    func without(_ names: [String]) -> HTTPHeaders {
        HTTPHeaders(fields.filter { field in !names.contains { field.isNamed($0) } })
    }
}

/// The choice among the representations of a resource: the request fields that `Vary` names, and their values.
///
/// The values are kept as a salted hash, so that nothing of a request is stored in clear.
struct Variant: Sendable, Hashable {
    /// The names in lower case, sorted.
    var names: [String] { choice?.names ?? [] }

    /// The hash of the values; empty without names.
    var digest: [UInt8] { choice?.digest ?? [] }

    /// The hash of the values of requests whose most wanted language is that of the response; empty if the choice
    /// doesn't depend on the language, or its language isn't known.
    var languageDigest: [UInt8] { choice?.languageDigest ?? [] }

    /// `nil` without names, as of most responses, which takes no more than one reference then.
    private let choice: Choice?

    private final class Choice: Sendable {
        let names: [String]
        let digest: [UInt8]
        let languageDigest: [UInt8]

        init(names: [String], digest: [UInt8], languageDigest: [UInt8]) {
            self.names = names
            self.digest = digest
            self.languageDigest = languageDigest
        }
    }

    /// The names of what tells whose a response is.
    static let owners = ["authorization", CacheOwnerOption.name]

    /// True for a response that is somebody's.
    var isOwned: Bool { Self.owners.contains { names.contains($0) } }

    init(names: [String], digest: [UInt8], languageDigest: [UInt8]) {
        choice = names.isEmpty ? nil : Choice(names: names, digest: digest, languageDigest: languageDigest)
    }

    /// Creates the choice that a response makes.
    ///
    /// - Returns: `nil` if the choice can't be known: `Vary: *`, or a cookie, which the engine may add after the cache.
    init?(of response: HTTPHeaders, to request: HTTPHeaders, isPublic: Bool, salt: [UInt8]) {
        var names: Set<String> = []
        for field in response.fields where field.isNamed("Vary") {
            for name in FieldList.members(of: field.value) { names.insert(name.lowercased()) }
        }
        guard !names.contains("*"), !names.contains("cookie") || request["Cookie"] != nil else {
            return nil
        }
        // A response to a user is that user's, unless it says that it is everybody's: RFC 9111, section 3.5.
        if !isPublic { names.formUnion(Self.owners.filter { request[$0] != nil }) }
        let sorted = names.sorted()
        let languages = FieldList.members(of: response.combined("Content-Language") ?? "")
        let isKnown = names.contains("accept-language") && languages.count == 1
        self.init(
            names: sorted,
            digest: Self.digest(sorted, of: request, salt: salt),
            languageDigest: isKnown
                ? Self.digest(sorted, of: request, language: languages[0].lowercased(), salt: salt) : []
        )
    }

    /// Compares the choices that requests make; the language that they get can be another one when it is asked again.
    static func == (one: Variant, other: Variant) -> Bool {
        one.names == other.names && one.digest == other.digest
    }

    func hash(into hasher: inout Hasher) {
        hasher.combine(names)
        hasher.combine(digest)
    }

    /// Returns whether the choice is that of another request: RFC 9111, section 4.1.
    func matches(_ request: HTTPHeaders, isPublic: Bool, salt: [UInt8]) -> Bool {
        if !isPublic, Self.owners.contains(where: { request[$0] != nil && !names.contains($0) }) { return false }
        guard choice != nil else { return true }
        if digest == Self.digest(names, of: request, salt: salt) { return true }
        guard !languageDigest.isEmpty, let wanted = Self.mostWantedLanguage(request) else {
            return false
        }
        return languageDigest == Self.digest(names, of: request, language: wanted, salt: salt)
    }

    /// Returns the language that a request prefers to all others; `nil` if there are several.
    private static func mostWantedLanguage(_ request: HTTPHeaders) -> String? {
        var (result, highest): (String?, Double) = (nil, 0)
        for range in FieldList.members(of: request.combined("Accept-Language") ?? "") {
            let parts = range.lowercased().split(separator: ";").map { FieldList.trimmed($0) }
            let weight =
                parts.dropFirst().first { $0.hasPrefix("q=") }.map { Double($0.dropFirst(2)) ?? 0 } ?? 1
            if weight == highest { result = nil }
            if weight > highest { (result, highest) = (parts.first.map(String.init), weight) }
        }
        return result == "*" ? nil : result
    }

    private static func digest(
        _ names: [String],
        of request: HTTPHeaders,
        language: String? = nil,
        salt: [UInt8]
    ) -> [UInt8] {
        if names.isEmpty { return [] }
        var bytes = salt
        for name in names {
            let language = name == "accept-language" ? language.map { "=" + $0 } : nil
            // A length before each text keeps two lists of texts from having the same bytes.
            for text in [name, language ?? normalised(name, request) ?? "\n"] {
                bytes += Array(String(text.utf8.count).utf8) + [0x20] + Array(text.utf8)
            }
        }
        return Array(SHA256.hash(bytes).prefix(16))
    }

    /// Returns a value so that those which mean the same are equal: fields combined, no white space between members,
    /// and languages without regard to case and order.
    private static func normalised(_ name: String, _ request: HTTPHeaders) -> String? {
        guard let value = request.combined(name) else { return nil }
        guard name == "accept-language" else {
            return FieldList.members(of: value).joined(separator: ",")
        }
        let ranges = value.lowercased().filter { $0 != " " && $0 != "\t" }
        return ranges.split(separator: ",").sorted().joined(separator: ",")
    }
}
