/// A request method: RFC 9110, section 9.
///
/// ```swift
/// let purge: HTTPMethod = "PURGE"
/// ```
///
/// Methods are case-sensitive, as the standard requires. A method that is not a token fails its request when it is
/// loaded.
public struct HTTPMethod: Sendable, Hashable, RawRepresentable, ExpressibleByStringLiteral, CustomStringConvertible {
    /// The method as it is sent.
    public let rawValue: String

    /// Creates a method from the text that is sent.
    public init(rawValue: String) {
        self.rawValue = rawValue
    }

    /// Creates a method from the text that is sent.
    public init(stringLiteral text: String) {
        rawValue = text
    }

    /// Requests a representation of the resource.
    public static let get: Self = "GET"

    /// Requests the head of the response that ``get`` would give.
    public static let head: Self = "HEAD"

    /// Has the resource process the body.
    public static let post: Self = "POST"

    /// Replaces the resource with the body.
    public static let put: Self = "PUT"

    /// Changes the resource as the body describes: RFC 5789.
    public static let patch: Self = "PATCH"

    /// Removes the resource.
    public static let delete: Self = "DELETE"

    /// Requests the communication options of the resource.
    public static let options: Self = "OPTIONS"

    /// Requests an echo of the request as it arrived.
    public static let trace: Self = "TRACE"

    /// A Boolean value that indicates whether the method only reads, such as `GET`, `HEAD`, `PROPFIND` or `QUERY`, by
    /// [IANA's registry](https://www.iana.org/assignments/http-methods).
    public var isSafe: Bool { Self.safe.contains(self) }

    /// A Boolean value that indicates whether sending a request twice has the same effect as sending it once. See
    /// ``idempotent``.
    public var isIdempotent: Bool { Self.idempotent.contains(self) }

    /// The method as it is sent.
    public var description: String { rawValue }

    private static let safe: Set<Self> = [
        .get, .head, .options, .trace, "PRI", "PROPFIND", "QUERY", "REPORT", "SEARCH",
    ]

    /// The methods of which [IANA's registry](https://www.iana.org/assignments/http-methods) says that sending a request
    /// twice has the same effect as sending it once: those that only read, `PUT`, `DELETE`, and most of WebDAV's and its
    /// relatives', such as `MKCOL`, `COPY`, `MOVE` and `UNLOCK`, but not `LOCK`.
    public static let idempotent: Set<Self> = safe.union([
        .put, .delete, "ACL", "BASELINE-CONTROL", "BIND", "CHECKIN", "CHECKOUT", "COPY", "LABEL", "LINK", "MERGE",
        "MKACTIVITY", "MKCALENDAR", "MKCOL", "MKREDIRECTREF", "MKWORKSPACE", "MOVE", "ORDERPATCH", "PROPPATCH",
        "REBIND",
        "UNBIND", "UNCHECKOUT", "UNLINK", "UNLOCK", "UPDATE", "UPDATEREDIRECTREF", "VERSION-CONTROL",
    ])
}
