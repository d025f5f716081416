#if os(Linux)
import CLibcurl
package import DeferredCore
package import Foundation
import FoundationNetworking

/// Sends requests over libcurl, on a thread of its own or on one that it shares with other engines.
///
/// Engines that share a thread share nothing else: each has its settings, its limits and its connections.
///
/// Redirects and challenges are reported like other responses, and handled by the transfer and the client's request.
package final class LibcurlEngine: Engine {
    private let pool: LibcurlPool

    package let defaultHeaders: [String: String]

    package let cookies: CookieJar?

    package let idleTimeout: Duration?

    package var hasTimeouts: Bool { false }

    package var invalidated: Future<Void> { pool.closed.future }

    /// - Parameter thread: The thread that drives libcurl, and on which transfers and users' closures are called.
    /// - Throws: ``URLClientError/engineUnavailable(reason:)`` if libcurl is missing or too old.
    convenience init(
        _ configuration: URLClient.Configuration,
        on thread: LibcurlThread = LibcurlThread()
    ) throws(URLClientError) {
        try self.init(configuration, configuration.cookies.map { CookieJar($0) }, idleTimeout: nil, on: thread)
    }

    /// Creates an engine with the settings of a user's session, on the thread that all such engines share.
    ///
    /// - Throws: ``URLClientError/engineUnavailable(reason:)`` if libcurl is missing or too old.
    convenience init(session: URLSessionConfiguration) throws(URLClientError) {
        var configuration = URLClient.Configuration()
        configuration.session = session
        configuration.maximumConnectionsPerHost = session.httpMaximumConnectionsPerHost
        let timeout = TimeoutRounding.repaired(session.timeoutIntervalForRequest)
        try self.init(configuration, CookieJar(session), idleTimeout: .seconds(timeout), on: .shared)
    }

    private init(
        _ configuration: URLClient.Configuration,
        _ cookies: CookieJar?,
        idleTimeout: Duration?,
        on thread: LibcurlThread
    ) throws(URLClientError) {
        if let reason = Self.unavailability { throw .engineUnavailable(reason: reason) }
        defaultHeaders = configuration.defaultHeaders
        self.cookies = cookies
        self.idleTimeout = idleTimeout
        pool = LibcurlPool(try LibcurlOptions(configuration), on: thread)
    }

    /// The reason why libcurl can't be used, if there is one. The first look loads it.
    static var unavailability: String? {
        var reason: UnsafePointer<CChar>?
        if libcurl_load(&reason) != 0 { return nil }
        return reason.map { String(cString: $0) } ?? "libcurl.so.4 can't be opened"
    }

    /// The version of libcurl, which must be available.
    static var version: String { String(cString: libcurl_version()) }

    deinit {
        pool.thread.submit(.close(pool))
    }

    /// Refuses an IPv6 zone that this machine doesn't have: libcurl would ignore it.
    package func checkHost(of url: URL) throws(URLClientError) {
        guard let host = IPv6Literals.literal(in: url), let delimiter = host.range(of: "%25") else { return }
        let zone = String(host[delimiter.upperBound...])
        var name = [CChar](repeating: 0, count: Int(IF_NAMESIZE))
        guard if_nametoindex(zone) > 0 || UInt32(zone).map({ if_indextoname($0, &name) != nil }) ?? false else {
            throw .invalidRequest(
                reason: "the zone \(DisplayText.quoted(zone)) of the host \(DisplayText.quoted(host)) is not a network "
                    + "interface of this machine; use the name or the number of one, as in \"[fe80::1%25eth0]\""
            )
        }
    }

    package func makeTask(for request: CheckedRequest, of transfer: Transfer, configure: EngineTaskConfiguration?) {
        let task = LibcurlTask(request, of: transfer, in: pool)
        task.tell(.made(task))
    }

    package func invalidate() {
        pool.thread.submit(.close(pool))
    }
}
#endif
