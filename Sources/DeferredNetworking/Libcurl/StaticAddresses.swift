#if os(Linux)
import Foundation

/// The addresses in a configuration that take the place of look-ups.
enum StaticAddresses {
    /// Returns them by names in lower case and ports.
    ///
    /// - Throws: ``URLClientError/Code/engineUnavailable(reason:)`` for what is neither a host and a port nor an address.
    static func checked(_ entries: [String: [String]]) throws(URLClientError) -> [String: [String]] {
        var result: [String: [String]] = [:]
        for (key, addresses) in entries {
            let parts = key.split(separator: ":", omittingEmptySubsequences: false)
            guard parts.count == 2, isHost(parts[0]), let port = UInt16(parts[1]), port > 0 else {
                throw refusal("\(DisplayText.quoted(key)) is not a host and a port, as in \"example.com:443\"")
            }
            guard !addresses.isEmpty else {
                throw refusal("\(DisplayText.quoted(key)) has no address; add one, or leave the entry out")
            }
            for address in addresses where !isAddress(address) {
                let remedy = address.hasPrefix("[") ? "; write it without brackets" : ""
                throw refusal("\(DisplayText.quoted(address)) is not an IPv4 or IPv6 address\(remedy)")
            }
            result["\(parts[0].lowercased()):\(port)"] = addresses
        }
        return result
    }

    private static let hostBytes = ByteSet("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-._")

    /// Returns true for a name as it stands in a URL. To libcurl, an asterisk means all hosts, and a sign in front another
    /// kind of entry.
    private static func isHost(_ text: Substring) -> Bool {
        !text.isEmpty && !text.hasPrefix("-") && text.utf8.allSatisfy(hostBytes.contains)
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
