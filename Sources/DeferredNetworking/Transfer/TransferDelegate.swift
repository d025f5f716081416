internal import DeferredCore
import Foundation
import Synchronization

#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

/// The delegate of a carrier session: hands each callback to the transfer that the task belongs to.
///
/// Signatures are exact. A near miss compiles, and the platform never calls it. Tests: `URLSessionTests.DelegateMethods`.
final class TransferDelegate: NSObject, URLSessionDataDelegate {
    let registry = TransferRegistry()

    /// Filled when the session calls back no more.
    let invalidated = Deferred<Void>()

    func urlSession(
        _ session: URLSession,
        dataTask: URLSessionDataTask,
        didReceive response: URLResponse,
        completionHandler: @escaping @Sendable (URLSession.ResponseDisposition) -> Void
    ) {
        completionHandler(.allow)
        registry[dataTask.taskIdentifier]?.handle { $0.received(response, task: dataTask.taskIdentifier) }
    }

    func urlSession(_ session: URLSession, dataTask: URLSessionDataTask, didReceive data: Data) {
        registry[dataTask.taskIdentifier]?.handle { $0.received(data, task: dataTask.taskIdentifier) }
    }

    func urlSession(
        _ session: URLSession,
        task: URLSessionTask,
        didSendBodyData bytesSent: Int64,
        totalBytesSent: Int64,
        totalBytesExpectedToSend: Int64
    ) {
        registry[task.taskIdentifier]?.handle {
            $0.sent(bytesSent, expected: totalBytesExpectedToSend, task: task.taskIdentifier)
        }
    }

    func urlSession(_ session: URLSession, task: URLSessionTask, didCompleteWithError error: (any Error)?) {
        registry.remove(task: task.taskIdentifier)?.handle {
            $0.completed(task: task.taskIdentifier, response: task.response, error: error)
        }
    }

    // The completion handler stays uncalled: answering after a cancellation or a time-out traps, two at once trap under
    // HTTP/2 (https://github.com/swiftlang/swift-corelibs-foundation/issues/5445), and the platform's own follow-up requests
    // lose their bodies (since #2948). Tests: `URLSessionTests`, "cancelling redirected requests at random moments does not
    // trap" and "a redirect that keeps the method keeps the body".
    func urlSession(
        _ session: URLSession,
        task: URLSessionTask,
        willPerformHTTPRedirection response: HTTPURLResponse,
        newRequest request: URLRequest,
        completionHandler: @escaping @Sendable (URLRequest?) -> Void
    ) {
        registry[task.taskIdentifier]?.handle { $0.redirected(by: response, task: task.taskIdentifier) }
    }

    func urlSession(
        _ session: URLSession,
        task: URLSessionTask,
        didReceive challenge: URLAuthenticationChallenge,
        completionHandler: @escaping @Sendable (URLSession.AuthChallengeDisposition, URLCredential?) -> Void
    ) {
        guard let transfer = registry[task.taskIdentifier] else { return }
        guard ChallengeHandling.isRecorded(challenge) else {
            return transfer.forward(challenge, of: task, answer: completionHandler)
        }
        transfer.state.withLock { $0.challenge = challenge }
        transfer.handle { $0.challenged(task: task.taskIdentifier) }
    }

    // Called on the queue that all sessions share: nothing here may wait for a lock or touch the task. With a stream, the
    // platform traps or hangs; no issue is known upstream. Test: `URLSessionTests`, "needNewBodyStream, without which a POST
    // on a stale connection is sent without its body".
    func urlSession(
        _ session: URLSession,
        task: URLSessionTask,
        needNewBodyStream completionHandler: @escaping @Sendable (InputStream?) -> Void
    ) {
        completionHandler(nil)
        let identifier = task.taskIdentifier
        TransferQueue.control.async { [registry] in
            registry[identifier]?.handle { $0.bodyStreamWanted(task: identifier) }
        }
    }

    func urlSession(_ session: URLSession, didBecomeInvalidWithError error: (any Error)?) {
        for transfer in registry.removeAll() {
            transfer.handle { $0.invalidated() }
        }
        invalidated.fill()
    }
}
