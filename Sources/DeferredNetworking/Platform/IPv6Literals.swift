import Foundation

/// Hosts such as `[::1]`, and their support by `URLSession`.
///
/// swift-corelibs-foundation passes libcurl the address without its brackets, so that each such request fails with
/// `.badURL`: https://github.com/swiftlang/swift-corelibs-foundation/issues/5496, fixed by #5498, which is in no 6.4
/// release. libcurl itself connects to them. Test: `URLClientTests`, "a host in brackets is refused at once, with the
/// engine that connects to it".
package enum IPv6Literals {
    package static var areSupported: Bool {
        #if canImport(FoundationNetworking) && !compiler(>=6.5)
        false
        #else
        true
        #endif
    }

    /// Returns the host of a URL without its brackets, or nil for a host without brackets.
    static func literal(in url: URL) -> String? {
        // Much cheaper than asking for the host of each request.
        guard url.absoluteString.withBytes({ $0.contains(UInt8(ascii: "[")) }) else { return nil }
        return url.host(percentEncoded: true).flatMap { $0.utf8.contains(UInt8(ascii: ":")) ? $0 : nil }
    }

    /// Refuses a URL with such a host where `URLSession` can't connect to it.
    static func check(_ url: URL) throws(URLClientError) {
        guard !areSupported, let host = literal(in: url) else { return }
        throw .invalidRequest(
            reason:
                "the host \(DisplayText.quoted(host)) is an IPv6 literal, which URLSession cannot connect to in this "
                + "version of Foundation; \(remedy)"
        )
    }

    private static var remedy: String {
        #if os(Linux)
        "use a URLClient with the engine .libcurl, a host name, or an IPv4 address"
        #else
        "use a host name, or an IPv4 address"
        #endif
    }
}
