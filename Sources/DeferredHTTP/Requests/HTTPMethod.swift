internal import DeferredNetworking

/// What a request asks for: RFC 9110, section 9.
///
/// ```swift
/// let purge: HTTPMethod = "PURGE"
/// ```
///
/// Methods are case-sensitive, as the standard has it. One that is no token fails its request when it is loaded.
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

    /// Asks for a representation.
    public static let get: Self = "GET"

    /// Asks for the head of what ``get`` would give.
    public static let head: Self = "HEAD"

    /// Has the resource process the body.
    public static let post: Self = "POST"

    /// Replaces the resource by the body.
    public static let put: Self = "PUT"

    /// Changes the resource as the body says: RFC 5789.
    public static let patch: Self = "PATCH"

    /// Removes the resource.
    public static let delete: Self = "DELETE"

    /// Asks what can be done with the resource.
    public static let options: Self = "OPTIONS"

    /// Asks for the request as it arrived.
    public static let trace: Self = "TRACE"

    /// Whether it only reads: `GET`, `HEAD`, `OPTIONS` and `TRACE`.
    public var isSafe: Bool { HTTPMethods.safe.contains(rawValue) }

    /// Whether sending it twice has the effect of sending it once: the safe methods, `PUT` and `DELETE`.
    public var isIdempotent: Bool { HTTPMethods.idempotent.contains(rawValue) }

    /// The method as it is sent.
    public var description: String { rawValue }
}
