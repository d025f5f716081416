#if os(Linux)
import Foundation

/// The addresses in a configuration that take the place of look-ups.
enum StaticAddresses {
    /// Returns them by names in lower case and ports.
    ///
    /// - Throws: ``URLClientError/engineUnavailable(reason:)`` for what is neither a host and a port nor an address.
    static func checked(_ entries: [String: [String]]) throws(URLClientError) -> [String: [String]] {
        var result: [String: [String]] = [:]
        for (key, addresses) in entries {
            let parts = key.split(separator: ":", omittingEmptySubsequences: false)
            guard parts.count == 2, !parts[0].isEmpty, let port = UInt16(parts[1]), port > 0 else {
                throw refusal("\(DisplayText.quoted(key)) is not a host and a port, as in \"example.com:443\"")
            }
            guard !addresses.isEmpty else { throw refusal("\(DisplayText.quoted(key)) has no address") }
            for address in addresses where !isAddress(address) {
                throw refusal("\(DisplayText.quoted(address)) is not an IPv4 or IPv6 address")
            }
            result["\(parts[0].lowercased()):\(port)"] = addresses
        }
        return result
    }

    private static func isAddress(_ text: String) -> Bool {
        var address = in6_addr()
        return inet_pton(AF_INET, text, &address) == 1 || inet_pton(AF_INET6, text, &address) == 1
    }

    private static func refusal(_ reason: String) -> URLClientError {
        .engineUnavailable(reason: "resolve: \(reason)")
    }
}
#endif
