package import DeferredCore
internal import Dispatch
package import Foundation

#if canImport(FoundationNetworking)
import FoundationNetworking
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
    ///
    /// - Parameter security: The trust settings and the identity of the session, on platforms that support them.
    init(copying configuration: URLSessionConfiguration, security: SessionSecurity? = nil) {
        let safe = SafeConfiguration.copy(of: configuration)
        cookies = CookieJar.take(from: safe)
        let queue = OperationQueue()
        queue.name = "Deferred.session"
        // One operation at a time: with more, data arrives out of order, and after the completion.
        queue.maxConcurrentOperationCount = 1
        delegate = SessionDelegate(security: security)
        session = URLSession(configuration: safe, delegate: delegate, delegateQueue: queue)
        defaultHeaders = SafeConfiguration.headers(of: configuration)
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

    package func check(_ url: URL) throws(URLClientError) {
        try IPv6Literals.check(url)
        try DotSegments.check(url)
    }

    package func makeTask(for request: CheckedRequest, of exchange: Exchange, as number: Int) -> any EngineTask {
        let task = SessionTask(of: exchange, as: number)
        // The reference of the exchange keeps the library's own sessions from being invalidated meanwhile, which would trap.
        TaskCreation.perform { [self] in
            let sent = Expectations.sent(request.withStream)
            if let stream = sent.httpBodyStream, let error = BodyStreams.error(before: stream, of: request.url) {
                return task.fail(error)
            }
            let platformTask = platformTask(for: sent, file: request.body.file)
            delegate.prepare(platformTask)
            delegate.tasks.withLock { $0[platformTask.taskIdentifier] = task }
            task.use(platformTask, delegate)
        }
        return task
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

/// A task of a `URLSession`, which is created later on some platforms: see ``TaskCreation``.
///
/// All that changes it happens on ``URLSessionEngine/control``, in the order in which it was decided.
final class SessionTask: EngineTask {
    let exchange: Exchange

    /// The task's number in the exchange.
    private let number: Int

    private struct State {
        var platformTask: URLSessionTask?
        var delegate: SessionDelegate?

        /// The delegate that `configure` gave the task, which the library's own delegate replaces.
        var given: (any URLSessionTaskDelegate)?
        var failure: (any Error)?
    }

    private let state = Lock(State())

    var platformTask: URLSessionTask? { state.withLock { $0.platformTask } }

    var givenDelegate: (any URLSessionTaskDelegate)? { state.withLock { $0.given } }

    init(of exchange: Exchange, as number: Int) {
        self.exchange = exchange
        self.number = number
    }

    /// Reports an event to the exchange.
    func tell(_ event: EngineEvent) { exchange.receive(event, of: number) }

    /// Ends the exchange's attempt with an error that the platform doesn't know.
    func abort(with error: any Error) { exchange.abort(with: error, of: number) }

    func use(_ platformTask: URLSessionTask, _ delegate: SessionDelegate) {
        state.withLock { ($0.platformTask, $0.delegate) = (platformTask, delegate) }
    }

    /// Notes that there is no platform's task, because the request can't be sent.
    func fail(_ error: any Error) {
        state.withLock { $0.failure = error }
    }

    func resume() {
        URLSessionEngine.control.async { [self] in
            let (platformTask, delegate) = state.withLock { ($0.platformTask, $0.delegate) }
            guard let platformTask, let delegate else { return endFailed() }
            exchange.settings.configure?(platformTask)
            let given = delegate.start(platformTask)
            state.withLock { $0.given = given }
        }
    }

    func cancel() {
        URLSessionEngine.control.async { [self] in
            guard let platformTask else { return endFailed() }
            platformTask.cancel()
        }
    }

    private func endFailed() {
        guard let failure = state.withLock({ $0.failure.take() }) else { return }
        tell(.ended(nil, error: failure))
    }

    /// Does nothing: a session reads as fast as it can.
    func pause(while isPaused: @escaping @Sendable () -> Bool) {}
    func took(_ count: Int) {}
}
