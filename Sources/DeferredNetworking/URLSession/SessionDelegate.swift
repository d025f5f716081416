internal import DeferredCore
import Foundation
import Synchronization

#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

/// The delegate of an engine's session: forwards each callback to the exchange of its task.
///
/// The signatures must match exactly: a near miss compiles, but is never called. Tests:
/// `URLSessionTests.DelegateMethods`.
final class SessionDelegate: NSObject, URLSessionDataDelegate {
    /// The running tasks of the session, by the identifiers of the platform's.
    let tasks = Lock<[Int: SessionTask]>([:])

    /// The trust settings of the session's tasks, on platforms whose sessions support them.
    private let security: SessionSecurity?

    /// Filled when the session makes no more callbacks.
    let invalidated = Deferred<Void>()

    init(security: SessionSecurity? = nil) {
        self.security = security
    }

    /// Starts a task that reports here, and returns the delegate that it was given.
    func start(_ task: URLSessionTask) -> (any URLSessionTaskDelegate)? {
        let given = reclaim(task)
        // If `configure` has suspended the task, resuming once isn't enough.
        while task.state == .suspended {
            task.resume()
        }
        return given
    }

    func urlSession(
        _ session: URLSession,
        dataTask: URLSessionDataTask,
        didReceive response: URLResponse,
        completionHandler: @escaping @Sendable (URLSession.ResponseDisposition) -> Void
    ) {
        completionHandler(.allow)
        send(.head(ResponseHead(platform: response)), of: dataTask)
    }

    func urlSession(_ session: URLSession, dataTask: URLSessionDataTask, didReceive data: Data) {
        send(.bytes(data), of: dataTask)
    }

    func urlSession(
        _ session: URLSession,
        task: URLSessionTask,
        didSendBodyData bytesSent: Int64,
        totalBytesSent: Int64,
        totalBytesExpectedToSend: Int64
    ) {
        if totalBytesSent == bytesSent { send(.bodyBegan(), of: task) }
        let total = totalBytesExpectedToSend > 0 ? totalBytesExpectedToSend : FileBodies.length(of: task)
        send(.sent(bytesSent, of: total), of: task)
    }

    func urlSession(_ session: URLSession, task: URLSessionTask, didCompleteWithError error: (any Error)?) {
        let failure = BodyStreams.failure(of: task) ?? error
        tasks.withLock { $0.removeValue(forKey: task.taskIdentifier) }?
            .tell(.ended(task.response.map { ResponseHead(platform: $0) }, error: failure))
    }

    // The completion handler is never called: answering after a cancellation or a time-out traps, two answers at once
    // trap under HTTP/2 (https://github.com/swiftlang/swift-corelibs-foundation/issues/5445), and the platform's own
    // follow-up requests lose their bodies (since #2948). Tests: `URLSessionTests`, "cancelling redirected requests at
    // random moments does not trap" and "a redirect that keeps the method keeps the body".
    func urlSession(
        _ session: URLSession,
        task: URLSessionTask,
        willPerformHTTPRedirection response: HTTPURLResponse,
        newRequest request: URLRequest,
        completionHandler: @escaping @Sendable (URLRequest?) -> Void
    ) {
        send(.redirect(ResponseHead(response), answer: RedirectHandling.answer(completionHandler, request)), of: task)
    }

    func urlSession(
        _ session: URLSession,
        task: URLSessionTask,
        didReceive challenge: URLAuthenticationChallenge,
        completionHandler: @escaping @Sendable (URLSession.AuthChallengeDisposition, URLCredential?) -> Void
    ) {
        let answer = ChallengeHandling.areRecorded ? nil : completionHandler
        let sessionTask = self.task(of: task)
        if let security, let answer,
            security.meet(challenge, answer: answer, refuse: { sessionTask?.abort(with: $0) })
        {
            return
        }
        sessionTask?.tell(.challenge(challenge, answer: answer))
    }

    // Called on the queue that all sessions share: nothing here may wait for a lock. If a stream is given, the platform
    // traps or hangs; no issue is known upstream. Test: `URLSessionTests`, "needNewBodyStream, without which a POST on
    // a stale connection is sent without its body".
    func urlSession(
        _ session: URLSession,
        task: URLSessionTask,
        needNewBodyStream completionHandler: @escaping @Sendable (InputStream?) -> Void
    ) {
        let event = BodyStreams.event(completionHandler, of: task)
        URLSessionEngine.control.async { self.send(event, of: task) }
    }

    // Never called on Linux, like the next two.
    func urlSession(
        _ session: URLSession,
        dataTask: URLSessionDataTask,
        willCacheResponse proposedResponse: CachedURLResponse,
        completionHandler: @escaping @Sendable (CachedURLResponse?) -> Void
    ) {
        guard task(of: dataTask)?.exchange.isCacheable ?? true else { return completionHandler(nil) }
        forwardedDelegate(of: dataTask, in: session).considerCaching(
            proposedResponse,
            of: dataTask,
            in: session,
            completionHandler
        )
    }

    func urlSession(_ session: URLSession, taskIsWaitingForConnectivity task: URLSessionTask) {
        send(.waiting, of: task)
        forwardedDelegate(of: task, in: session).isWaiting(task, in: session)
    }

    func urlSession(_ session: URLSession, task: URLSessionTask, didFinishCollecting metrics: URLSessionTaskMetrics) {
        if let measured = URLClient.Metrics(metrics) {
            send(.measured(measured), of: task)
        }
        forwardedDelegate(of: task, in: session).finishedCollecting(metrics, of: task, in: session)
    }

    /// Returns the delegate that the platform would tell if this one weren't there: that of the task, or of the user's
    /// session.
    private func forwardedDelegate(of task: URLSessionTask, in session: URLSession) -> ForwardedDelegate {
        let delegate = self.task(of: task)?.givenDelegate ?? session.delegate as? any URLSessionTaskDelegate
        return ForwardedDelegate(delegate: delegate === self ? nil : delegate)
    }

    func urlSession(_ session: URLSession, didBecomeInvalidWithError error: (any Error)?) {
        let left = tasks.withLock { tasks in
            defer { tasks = [:] }
            return tasks.values
        }
        for task in left { task.tell(.ended(nil, error: URLClientError.shutDown)) }
        invalidated.fill()
    }

    private func send(_ event: EngineEvent, of task: URLSessionTask) {
        self.task(of: task)?.tell(event)
    }
    private func task(of task: URLSessionTask) -> SessionTask? { tasks.withLock { $0[task.taskIdentifier] } }
}
