/// The fields that may come behind a body: RFC 9110, section 6.5.1.
package enum TrailerGrammar {
    /// Those that frame a message, route it, authenticate, or say how its body is to be handled: whoever has read the body
    /// would learn of them too late, and whoever has not might take them for those of the head.
    private static let forbidden: Set<String> = [
        "age", "authorization", "cache-control", "connection", "content-encoding", "content-length", "content-range",
        "content-type", "cookie", "date", "expect", "expires", "host", "keep-alive", "location", "max-forwards",
        "pragma",
        "proxy-authenticate", "proxy-authentication-info", "proxy-authorization", "proxy-connection", "range",
        "retry-after", "set-cookie", "te", "trailer", "transfer-encoding", "upgrade", "vary", "warning",
        "www-authenticate", "authentication-info", "if-match", "if-modified-since", "if-none-match", "if-range",
        "if-unmodified-since",
    ]

    /// Returns true if a field with this name may be in a trailer.
    package static func allows(_ name: String) -> Bool { !forbidden.contains(name.lowercased()) }
}
