internal import DeferredCore

#if canImport(FoundationNetworking)
import Foundation
package import FoundationNetworking
#else
package import Foundation
#endif

/// A session whose tasks report to transfers.
package final class CarrierSession: Sendable {
    let session: URLSession
    let delegate: TransferDelegate
    let ownsSession: Bool

    /// Headers that every request of the session carries. A carrier adds them itself: they are checked with the request,
    /// and a redirect to another origin doesn't carry the secret ones along.
    private let defaultHeaders: [String: String]

    var registry: TransferRegistry { delegate.registry }

    /// Filled when the session calls back no more.
    var invalidated: Future<Void> { delegate.invalidated.future }

    /// A session of the library's own with a copy of `configuration`, made safe for the platform.
    package init(copying configuration: URLSessionConfiguration) {
        let (safe, headers) = CarrierConfiguration.safeCopy(of: configuration)
        let queue = OperationQueue()
        queue.name = "Deferred.carrier"
        // One at a time: with more, data arrives out of order, and after the completion.
        queue.maxConcurrentOperationCount = 1
        delegate = TransferDelegate()
        session = URLSession(configuration: safe, delegate: delegate, delegateQueue: queue)
        defaultHeaders = headers
        ownsSession = true
    }

    /// Tasks on the user's own session that report to transfers through their own delegates.
    init(borrowing session: URLSession) {
        self.session = session
        delegate = TransferDelegate()
        defaultHeaders = [:]
        ownsSession = false
    }

    func addingDefaultHeaders(to request: TransferRequest) -> TransferRequest {
        var result = request
        for (name, value) in defaultHeaders where request.request.value(forHTTPHeaderField: name) == nil {
            result.request.setValue(value, forHTTPHeaderField: name)
        }
        return result
    }

    func makeTask(for request: TransferRequest) -> URLSessionTask {
        switch request.body {
        case .inRequest:
            return session.dataTask(with: request.request)
        case .file(let file):
            return session.uploadTask(with: request.request, fromFile: file)
        case .stream(let makeStream):
            var streamed = request.request
            streamed.httpBodyStream = makeStream()
            return session.dataTask(with: streamed)
        }
    }

    /// Ends what runs, and lets the session go. Only for a session that no lease is held on.
    package func invalidate() {
        guard ownsSession else { return }
        TransferQueue.control.async { [session] in session.invalidateAndCancel() }
    }
}
