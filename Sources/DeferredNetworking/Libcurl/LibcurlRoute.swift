#if os(Linux)
import Foundation

/// A name that libcurl has to look up for a connection: the server's or a proxy's.
struct LibcurlHop: Equatable {
    let name: String
    let port: Int
    var isProxy = false

    /// The key of a static override.
    var key: String { "\(name):\(port)" }

    /// False for names that libcurl doesn't look up: literal addresses and `localhost`, and those that it converts. Before
    /// 7.85, it looks up names below `localhost`, which RFC 6761 reserves.
    var isLookedUp: Bool {
        var address = in_addr()
        if name == "localhost" || name.contains(":") { return false }
        return !name.isEmpty && name.utf8.allSatisfy { $0 > 0x20 && $0 < 0x7F && $0 != UInt8(ascii: "%") }
            && inet_pton(AF_INET, name, &address) != 1
    }

    /// The addresses of names that are this machine's: RFC 6761, section 6.3.
    var reservedAddresses: [String]? { name.hasSuffix(".localhost") ? ["127.0.0.1", "::1"] : nil }
}

/// Tells which names libcurl looks up for a request. libcurl says when it is about to look one up, but not which.
struct LibcurlRoute {
    private static let noProxy = ["no_proxy", "NO_PROXY"]

    private let proxy: URLClient.Proxy
    private let environment: [String: String]

    init(_ proxy: URLClient.Proxy, environment: [String: String] = ProcessInfo.processInfo.environment) {
        self.proxy = proxy
        self.environment = environment
    }

    /// Returns the names in the order in which libcurl most probably looks them up. It may need fewer: a proxy mostly looks
    /// up the server's name itself.
    func hops(to url: URL) -> [LibcurlHop] {
        let isSecure = url.scheme == "https"
        let name = (url.host(percentEncoded: false) ?? "").lowercased()
        let server = LibcurlHop(name: name, port: url.port ?? (isSecure ? 443 : 80))
        guard let proxy = self.proxy(isSecure: isSecure) else { return [server] }
        return isExempt(name) ? [server, proxy] : [proxy, server]
    }

    /// The texts of the proxies that requests may go through.
    var proxies: Set<String> { Set([text(isSecure: false), text(isSecure: true)].compactMap(\.self)) }

    private func text(isSecure: Bool) -> String? {
        switch proxy {
        case .none: nil
        case .server(let url): url.absoluteString
        case .environment:
            value(of: (isSecure ? ["https_proxy", "HTTPS_PROXY"] : ["http_proxy"]))
                ?? value(of: ["all_proxy", "ALL_PROXY"])
        }
    }

    private func proxy(isSecure: Bool) -> LibcurlHop? {
        guard let text = text(isSecure: isSecure),
            let url = URL(string: text.contains("://") ? text : "http://" + text),
            let host = url.host(percentEncoded: false)
        else { return nil }
        return LibcurlHop(
            name: host.lowercased(),
            port: url.port ?? (url.scheme?.lowercased() == "https" ? 443 : 1080),
            isProxy: true
        )
    }

    private func value(of names: [String]) -> String? {
        names.lazy.compactMap { environment[$0] }.first { !$0.isEmpty }
    }

    /// Returns whether the environment excepts a host, by the usual rules. If libcurl has others, the order is wrong, but
    /// both names are there.
    private func isExempt(_ host: String) -> Bool {
        guard proxy == .environment, let list = value(of: Self.noProxy) else { return false }
        return list.split { $0 == "," || $0 == " " }.contains { entry in
            let name = entry.drop { $0 == "." }.lowercased()
            return name == "*" || host == name || host.hasSuffix("." + name)
        }
    }
}
#endif
