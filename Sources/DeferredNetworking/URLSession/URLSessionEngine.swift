package import DeferredCore
internal import Dispatch

#if canImport(FoundationNetworking)
import Foundation
package import FoundationNetworking
#else
package import Foundation
#endif

/// Sends requests as the tasks of a `URLSession`.
package final class URLSessionEngine: Engine {
    /// Where tasks are created, resumed and cancelled, in the order in which that was decided.
    ///
    /// On Linux each of these waits for a queue that all sessions share, for seconds when that is busy; here, no caller
    /// and no delegate callback waits with it, nor can two of them wait for each other, as the platform's own async
    /// methods do (https://github.com/swiftlang/swift-corelibs-foundation/issues/5412). Test: `URLSessionTests`,
    /// "cancelling Swift tasks that await a request does not stop all sessions".
    static let control = DispatchQueue(label: "Deferred.session-control", qos: .userInitiated)

    private let session: URLSession
    let delegate: SessionDelegate
    private let ownsSession: Bool

    /// Carries the requests that want no cookies, where the platform's sessions don't heed that. Made when first
    /// needed.
    private let engineWithoutCookies = Lock<URLSessionEngine?>(nil)

    package let defaultHeaders: [String: String]

    package var hasTimeouts: Bool { true }

    package var taskCount: Int {
        delegate.registry.count + (engineWithoutCookies.withLock { $0 }?.taskCount ?? 0)
    }

    /// Filled when the session calls back no more.
    package var invalidated: Future<Void> { delegate.invalidated.future }

    /// A session of the library's own with a copy of `configuration`, made safe for the platform.
    package init(copying configuration: URLSessionConfiguration) {
        let (safe, headers) = SafeConfiguration.copy(of: configuration)
        let queue = OperationQueue()
        queue.name = "Deferred.session"
        // One at a time: with more, data arrives out of order, and after the completion.
        queue.maxConcurrentOperationCount = 1
        delegate = SessionDelegate()
        session = URLSession(configuration: safe, delegate: delegate, delegateQueue: queue)
        defaultHeaders = headers
        ownsSession = true
    }

    /// Tasks on the user's own session that report to transfers through their own delegates.
    init(borrowing session: URLSession) {
        self.session = session
        delegate = SessionDelegate()
        defaultHeaders = [:]
        ownsSession = false
    }

    package func makeTask(for request: CheckedRequest, of transfer: Transfer, configure: EngineTaskConfiguration?) {
        // The transfer's lease keeps the session from being invalidated meanwhile, which would trap.
        Self.control.async { [self] in
            let engine = engine(for: request.request)
            var sent = request.request
            if case .stream(let makeStream) = request.body {
                sent.httpBodyStream = makeStream()
            }
            if let stream = sent.httpBodyStream, BodyStreams.isSpent(stream) {
                // The task that is made all the same is cancelled, not resumed.
                transfer.abort(with: BodyStreams.spent)
            }
            let platformTask = engine.platformTask(for: sent, file: request.body.file)
            let task = SessionTask(platformTask, delegate: engine.delegate, configure: configure)
            engine.delegate.registry.insert(transfer, task: task.identifier)
            transfer.receive(.made(task), of: task.identifier)
        }
    }

    /// Called on the control queue only, one at a time.
    private func engine(for request: URLRequest) -> URLSessionEngine {
        guard
            let configuration = CookieHandling.configurationWithoutCookies(
                for: request,
                insteadOf: session.configuration
            )
        else { return self }
        if let engine = engineWithoutCookies.withLock({ $0 }) { return engine }
        let engine = URLSessionEngine(copying: configuration)
        engineWithoutCookies.withLock { $0 = engine }
        return engine
    }

    private func platformTask(for request: URLRequest, file: URL?) -> URLSessionTask {
        file.map { session.uploadTask(with: request, fromFile: $0) } ?? session.dataTask(with: request)
    }

    package func invalidate() {
        guard ownsSession else { return }
        let invalidateSession: @Sendable () -> Void = { [session] in
            Self.control.async { session.invalidateAndCancel() }
        }
        guard let other = engineWithoutCookies.withLock({ $0 }) else { return invalidateSession() }
        other.invalidate()
        other.invalidated.upon(.immediate, execute: invalidateSession)
    }
}

/// A task of a session.
final class SessionTask: EngineTask {
    let platformTask: URLSessionTask
    private let delegate: SessionDelegate
    private let configure: EngineTaskConfiguration?

    var identifier: Int { platformTask.taskIdentifier }

    init(_ task: URLSessionTask, delegate: SessionDelegate, configure: EngineTaskConfiguration?) {
        platformTask = task
        self.delegate = delegate
        self.configure = configure
    }

    func resume() {
        URLSessionEngine.control.async { [self] in
            configure?(platformTask)
            delegate.start(platformTask)
        }
    }

    func cancel() {
        URLSessionEngine.control.async { [platformTask] in platformTask.cancel() }
    }

    /// A session reads as fast as it can.
    func hold(while isHeld: @escaping @Sendable () -> Bool) {}
    func took(_ count: Int) {}
}
