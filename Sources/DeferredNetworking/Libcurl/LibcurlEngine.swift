#if os(Linux)
import CLibcurl
package import DeferredCore
import Foundation
import FoundationNetworking

/// Sends requests over libcurl, on a dedicated thread.
///
/// Redirects and challenges are reported like other responses, and handled by the transfer and the client's request.
package final class LibcurlEngine: Engine {
    private let mailbox: LibcurlMailbox

    package let defaultHeaders: [String: String]

    package var hasTimeouts: Bool { false }

    package var taskCount: Int { mailbox.taskCount }

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

    package func makeTask(for request: CheckedRequest, of transfer: Transfer, configure: EngineTaskConfiguration?) {
        let task = LibcurlTask(mailbox.countTask(), request, of: transfer, mailbox)
        task.tell(.made(task))
    }

    package func invalidate() {
        mailbox.stop()
    }
}
#endif
