internal import DeferredCore
import Dispatch
import Foundation

#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

/// The private engines for the users' sessions.
///
/// On Linux, requests run over libcurl unless they need what only a session has. Otherwise, responses and data go to
/// the delegate of the session and never to that of a task
/// (https://github.com/swiftlang/swift-corelibs-foundation/issues/5187), a completion handler sees no progress, and
/// creating a task on an invalidated session traps. On Apple's platforms a task can have a delegate, but it is called
/// on the session's queue; if that is the main queue, bodies would be written there, and waiting there for a task would
/// never end. Therefore each user's session gets a private session, created once from its configuration at that time,
/// which has our delegate and outlives an invalidation. The private session is closed when the user's session is gone
/// and nobody retains it; this is checked whenever a transfer on any session begins or ends. Tests: `ExchangeTests`, "an
/// exchange on an invalidated session still runs" and "one session has one engine, which goes with it";
/// `URLSessionTests`, "the connections of dropped sessions are closed" and "a task that configure resumes, suspends or
/// cancels ends all the same".
private final class SessionEngines: Sendable {
    static let shared = SessionEngines()

    private struct Entry {
        /// The session's, which a later one may have, too. It is compared first, so that no other session is retained under
        /// the lock, and perhaps freed there.
        let key: ObjectIdentifier
        weak var user: URLSession?
        let engine: any Engine
        let needsSession: Bool
        var retains = 0
    }

    private let entries = Lock<[Entry]>([])

    /// - Parameter needsSession: true if the request has to run over a session, whatever the configuration says.
    func retainedEngine(for session: URLSession, needsSession: Bool) -> RetainedEngine {
        purge()
        if let engine = entries.withLock({ Self.take(session, needsSession, in: &$0) }) { return retain(engine) }
        // Created outside of the lock, since it waits for the queue that all sessions share. If two callers each create
        // one, one of them is discarded.
        let made = Self.make(session.configuration, needsSession: needsSession)
        let engine = entries.withLock { entries in
            if let other = Self.take(session, needsSession, in: &entries) { return other }
            let key = ObjectIdentifier(session)
            entries.append(Entry(key: key, user: session, engine: made, needsSession: needsSession, retains: 1))
            return made
        }
        if engine !== made {
            made.invalidate()
        }
        return retain(engine)
    }

    private static func make(_ configuration: URLSessionConfiguration, needsSession: Bool) -> any Engine {
        #if os(Linux)
        if !needsSession, let engine = try? LibcurlEngine(session: configuration) { return engine }
        #endif
        return URLSessionEngine(copying: configuration)
    }

    private func retain(_ engine: any Engine) -> RetainedEngine {
        RetainedEngine(engine) {
            self.entries.withLock { entries in
                if let index = entries.firstIndex(where: { $0.engine === engine }) { entries[index].retains -= 1 }
            }
            self.purge()
        }
    }

    private static func take(_ session: URLSession, _ needsSession: Bool, in entries: inout [Entry]) -> (any Engine)? {
        let key = ObjectIdentifier(session)
        let index = entries.firstIndex { $0.key == key && $0.user === session && $0.needsSession == needsSession }
        guard let index else { return nil }
        entries[index].retains += 1
        return entries[index].engine
    }

    private func purge() {
        let unused = entries.withLock { entries in
            var unused: [any Engine] = []
            // Each entry is looked at once: its session may go at any moment.
            entries.removeAll { entry in
                guard entry.user == nil, entry.retains == 0 else { return false }
                unused.append(entry.engine)
                return true
            }
            return unused
        }
        for engine in unused {
            engine.invalidate()
        }
    }
}

extension URLSessionEngine {
    /// Returns the right to make tasks on a session that the user made, or on one with its configuration.
    static func retainedEngine(for session: URLSession) -> RetainedEngine {
        let queue = session.delegateQueue
        // Bodies must not be written on the main thread.
        if !SessionPlatform.isCorelibs, queue !== OperationQueue.main, queue.underlyingQueue !== DispatchQueue.main {
            return RetainedEngine(URLSessionEngine(borrowing: session))
        }
        return SessionEngines.shared.retainedEngine(for: session, needsSession: true)
    }
}

extension URLSession {
    /// Returns the right to begin a transfer with the settings of this session, over the engine that suits it.
    ///
    /// - Parameters:
    ///   - decider: Needs a session's tasks if it asks the session's own delegate.
    ///   - configure: Needs them unless it is nil.
    func retainedEngine(for decider: SessionDelegateDecider, _ configure: EngineTaskConfiguration?) -> RetainedEngine {
        #if os(Linux)
        // Looked at each time: the configuration of a session can still be changed on Linux, and a stub's requests must
        // never reach the network.
        if configure == nil, decider.sessionDelegate == nil, SafeConfiguration.reasonForSession(configuration) == nil {
            return SessionEngines.shared.retainedEngine(for: self, needsSession: false)
        }
        #endif
        return URLSessionEngine.retainedEngine(for: self)
    }
}
