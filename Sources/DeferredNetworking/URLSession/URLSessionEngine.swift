package import DeferredCore
internal import Dispatch
package import Foundation

#if canImport(FoundationNetworking)
package import FoundationNetworking
#endif

/// Sends requests as the tasks of a `URLSession`.
package final class URLSessionEngine: Engine {
    /// The queue on which tasks are created, resumed and cancelled, in the order in which that was decided.
    ///
    /// On Linux, each of these waits for a queue that all sessions share, for seconds when that queue is busy. Here,
    /// neither callers nor delegate callbacks wait with it, and two calls can't wait for each other, as they do in the
    /// platform's own async methods (https://github.com/swiftlang/swift-corelibs-foundation/issues/5412). Test:
    /// `URLSessionTests`, "cancelling Swift tasks that await a request does not stop all sessions".
    static let control = DispatchQueue(label: "Deferred.session-control", qos: .userInitiated)

    private let session: URLSession
    let delegate: SessionDelegate
    private let ownsSession: Bool

    package let defaultHeaders: [String: String]

    package let cookies: CookieJar?

    package var hasTimeouts: Bool { true }

    /// Filled when the session makes no more callbacks.
    package var invalidated: Future<Void> { delegate.invalidated.future }

    /// Creates a session for the library's own use, with a copy of `configuration` that is made safe for the platform.
    convenience package init(copying configuration: URLSessionConfiguration) {
        self.init(copying: configuration, security: nil)
    }

    /// - Parameter security: The trust settings and the identity of the session, on platforms that support them.
    init(copying configuration: URLSessionConfiguration, security: SessionSecurity?) {
        let (safe, headers) = SafeConfiguration.copy(of: configuration)
        cookies = CookieHandling.takeCookies(of: safe)
        let queue = OperationQueue()
        queue.name = "Deferred.session"
        // One operation at a time: with more, data arrives out of order, and after the completion.
        queue.maxConcurrentOperationCount = 1
        delegate = SessionDelegate(security: security)
        session = URLSession(configuration: safe, delegate: delegate, delegateQueue: queue)
        defaultHeaders = headers
        ownsSession = true
    }

    /// Creates an engine on a user's session, whose tasks report to their own delegate.
    init(borrowing session: URLSession) {
        self.session = session
        delegate = SessionDelegate()
        defaultHeaders = [:]
        cookies = nil
        ownsSession = false
    }

    package func checkHost(of url: URL) throws(URLClientError) {
        try IPv6Literals.check(url)
    }

    package func makeTask(for request: CheckedRequest, of transfer: Transfer, configure: EngineTaskConfiguration?) {
        // The transfer's lease keeps the library's own sessions from being invalidated meanwhile, which would trap.
        TaskCreation.perform { [self] in
            let sent = Expectations.sent(request.withStream)
            if let stream = sent.httpBodyStream, let error = BodyStreams.error(before: stream, of: request.url) {
                // The task is created all the same, and cancelled instead of resumed.
                transfer.abort(with: error)
            }
            let platformTask = platformTask(for: sent, file: request.body.file)
            delegate.prepare(platformTask)
            let task = SessionTask(platformTask, delegate: delegate, configure: configure)
            delegate.registry.insert(transfer, task: task.identifier)
            transfer.receive(.made(task), of: task.identifier)
        }
    }

    private func platformTask(for request: URLRequest, file: URL?) -> URLSessionTask {
        guard let file, !FileBodies.areStreams else { return session.dataTask(with: request) }
        return session.uploadTask(with: request, fromFile: file)
    }

    package func invalidate() {
        guard ownsSession else { return }
        Self.control.async { [session] in SessionInvalidation.perform(session) }
    }
}

/// A task of a `URLSession`.
final class SessionTask: EngineTask {
    let platformTask: URLSessionTask
    private let delegate: SessionDelegate
    private let configure: EngineTaskConfiguration?

    var identifier: Int { platformTask.taskIdentifier }

    /// The delegate that `configure` gave the task, which the library's own delegate replaces.
    private let given = Lock<(any URLSessionTaskDelegate)?>(nil)

    var givenDelegate: (any URLSessionTaskDelegate)? { given.withLock { $0 } }

    init(_ task: URLSessionTask, delegate: SessionDelegate, configure: EngineTaskConfiguration?) {
        platformTask = task
        self.delegate = delegate
        self.configure = configure
    }

    func resume() {
        URLSessionEngine.control.async { [self] in
            configure?(platformTask)
            if let reclaimed = delegate.start(platformTask) {
                given.withLock { $0 = reclaimed }
            }
        }
    }

    func cancel() {
        URLSessionEngine.control.async { [platformTask] in platformTask.cancel() }
    }

    /// Does nothing: a session reads as fast as it can.
    func hold(while isHeld: @escaping @Sendable () -> Bool) {}
    func took(_ count: Int) {}
}
