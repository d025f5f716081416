#if os(Linux)
import CLibcurl
package import DeferredCore
package import Foundation
import FoundationNetworking

/// Sends requests over libcurl, on a dedicated thread.
///
/// Redirects and challenges are reported like other responses, and handled by the transfer and the client's request.
package final class LibcurlEngine: Engine {
    private let mailbox: LibcurlMailbox

    package let defaultHeaders: [String: String]

    package var hasTimeouts: Bool { false }

    package var invalidated: Future<Void> { mailbox.stopped.future }

    /// - Throws: ``URLClientError/engineUnavailable(reason:)`` if libcurl is missing or too old.
    init(_ configuration: URLClient.Configuration) throws(URLClientError) {
        var reason: UnsafePointer<CChar>?
        guard libcurl_load(&reason) != 0 else {
            throw .engineUnavailable(reason: reason.map { String(cString: $0) } ?? "libcurl.so.4 can't be opened")
        }
        defaultHeaders = SafeConfiguration.copy(of: configuration.session).headers
        mailbox = LibcurlMailbox(try LibcurlOptions(configuration))
    }

    deinit {
        mailbox.stop()
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
        let task = LibcurlTask(mailbox.nextIdentifier(), request, of: transfer, mailbox)
        task.tell(.made(task))
    }

    package func invalidate() {
        mailbox.stop()
    }
}
#endif
