internal import DeferredNetworking

/// The directives of `Cache-Control` in a request or a response: RFC 9111, section 5.2, RFC 5861 and RFC 8246.
struct CacheDirectives: Sendable, Equatable {
    /// The directives without an argument. Those that can name fields are taken as if they named none, which only makes
    /// a cache more careful.
    struct Flags: OptionSet, Sendable {
        let rawValue: UInt16
        static let noStore = Self(rawValue: 1)
        static let noCache = Self(rawValue: 2)
        static let mustRevalidate = Self(rawValue: 4)
        static let mustUnderstand = Self(rawValue: 8)
        static let isPublic = Self(rawValue: 16)
        static let immutable = Self(rawValue: 32)
        static let onlyIfCached = Self(rawValue: 64)
    }

    /// A number that stands for everything that is longer: 2^31 seconds, 68 years.
    static let longest: Int64 = 1 << 31

    /// A number of seconds that no staleness exceeds, not even that after a clock was set back.
    static let unlimited: Int64 = .max / 1_000

    var flags: Flags = []
    /// In seconds, as all others. Of several, the first counts; one that is malformed is 0.
    @OptionalSeconds var maxAge: Int64? = nil
    @OptionalSeconds var maxStale: Int64? = nil
    @OptionalSeconds var minFresh: Int64? = nil
    @OptionalSeconds var staleWhileRevalidate: Int64? = nil
    @OptionalSeconds var staleIfError: Int64? = nil

    /// A number of seconds that takes four bytes, of which each stored response has several.
    @propertyWrapper
    struct OptionalSeconds: Sendable, Equatable {
        private static let none = UInt32.max
        private static let unlimited = UInt32.max - 1
        private var stored: UInt32

        init(wrappedValue: Int64?) {
            stored = Self.none
            self.wrappedValue = wrappedValue
        }

        /// More than ``CacheDirectives/longest`` becomes ``CacheDirectives/unlimited``.
        var wrappedValue: Int64? {
            get { stored == Self.none ? nil : stored == Self.unlimited ? CacheDirectives.unlimited : Int64(stored) }
            set {
                stored = newValue.map { $0 > longest ? Self.unlimited : UInt32(max(0, $0)) } ?? Self.none
            }
        }
    }

    init() {}

    init(_ headers: HTTPHeaders) {
        for field in headers.fields where field.isNamed("Cache-Control") {
            FieldList.forEachMember(of: field.value) { add($0) }
        }
    }

    private mutating func add(_ member: Substring) {
        let sides = member.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
        let argument = sides.count == 2 ? sides[1] : nil
        switch sides[0].lowercased() {
        case "no-store": flags.insert(.noStore)
        case "no-cache": flags.insert(.noCache)
        case "must-revalidate": flags.insert(.mustRevalidate)
        case "must-understand": flags.insert(.mustUnderstand)
        case "public": flags.insert(.isPublic)
        case "immutable": flags.insert(.immutable)
        case "only-if-cached": flags.insert(.onlyIfCached)
        case "max-age": maxAge = maxAge ?? Self.seconds(argument) ?? 0
        case "max-stale":
            // Without an argument, any staleness will do.
            maxStale = maxStale ?? (argument == nil ? Self.longest : Self.seconds(argument) ?? 0)
        case "min-fresh": minFresh = minFresh ?? Self.seconds(argument) ?? Self.longest
        case "stale-while-revalidate": staleWhileRevalidate = staleWhileRevalidate ?? Self.seconds(argument) ?? 0
        case "stale-if-error": staleIfError = staleIfError ?? Self.seconds(argument) ?? 0
        default: break
        }
    }

    /// Reads a number of seconds, which some senders quote.
    static func seconds(_ text: Substring?) -> Int64? {
        guard var text else { return nil }
        if text.utf8.count > 2, text.hasPrefix("\""), text.hasSuffix("\"") { text = text.dropFirst().dropLast() }
        guard HTTPNumber.isValid(text) else { return nil }
        return min(HTTPNumber.parse(text) ?? longest, longest)
    }
}
