internal import DeferredCore
import Dispatch
import Foundation

#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

/// The private engines for the users' sessions.
///
/// On Linux, responses and data go to the delegate of the session and never to that of a task
/// (https://github.com/swiftlang/swift-corelibs-foundation/issues/5187), a completion handler sees no progress, and
/// creating a task on an invalidated session traps. On Apple's platforms a task can have a delegate, but it is called
/// on the session's queue; if that is the main queue, bodies would be written there, and waiting there for a task would
/// never end. Therefore each user's session gets a private session, created once from its configuration at that time,
/// which has our delegate and outlives an invalidation. The private session is closed when the user's session is gone
/// and no lease is left; this is checked whenever a transfer on any session begins or ends. Tests: `TransferTests`, "a
/// transfer on an invalidated session still runs" and "one session has one engine, which goes with it";
/// `URLSessionTests`, "the connections of dropped sessions are closed" and "a task that configure resumes, suspends or
/// cancels ends all the same".
private final class SessionEngines: Sendable {
    static let shared = SessionEngines()

    private struct Entry {
        weak var user: URLSession?
        let engine: URLSessionEngine
        var leases = 0
    }

    private let entries = Lock<[ObjectIdentifier: [Entry]]>([:])

    func lease(for session: URLSession) -> EngineLease {
        purge()
        let key = ObjectIdentifier(session)
        if let engine = entries.withLock({ Self.take(key, session, in: &$0) }) {
            return lease(engine, key)
        }
        // Created outside of the lock, since it waits for the queue that all sessions share. If two callers each create
        // one, one of them is discarded.
        let made = URLSessionEngine(copying: session.configuration)
        let engine = entries.withLock { entries in
            if let other = Self.take(key, session, in: &entries) { return other }
            entries[key, default: []].append(Entry(user: session, engine: made, leases: 1))
            return made
        }
        if engine !== made {
            made.invalidate()
        }
        return lease(engine, key)
    }

    private func lease(_ engine: URLSessionEngine, _ key: ObjectIdentifier) -> EngineLease {
        EngineLease(engine) {
            self.entries.withLock { entries in
                if let index = entries[key]?.firstIndex(where: { $0.engine === engine }) {
                    entries[key]?[index].leases -= 1
                }
            }
            self.purge()
        }
    }

    /// A new object may have the address of a former one, so an identifier can stand for several sessions.
    private static func take(
        _ key: ObjectIdentifier,
        _ session: URLSession,
        in entries: inout [ObjectIdentifier: [Entry]]
    ) -> URLSessionEngine? {
        guard let index = entries[key]?.firstIndex(where: { $0.user === session }) else { return nil }
        entries[key]?[index].leases += 1
        return entries[key]?[index].engine
    }

    private func purge() {
        let unused = entries.withLock { entries in
            var unused: [URLSessionEngine] = []
            for (key, list) in entries {
                let kept = list.filter { $0.user != nil || $0.leases > 0 }
                guard kept.count < list.count else { continue }
                unused += list.filter { $0.user == nil && $0.leases == 0 }.map(\.engine)
                entries[key] = kept.isEmpty ? nil : kept
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
    static func lease(for session: URLSession) -> EngineLease {
        #if !canImport(FoundationNetworking)
        if !isMain(session.delegateQueue) { return EngineLease(URLSessionEngine(borrowing: session)) }
        #endif
        return SessionEngines.shared.lease(for: session)
    }

    /// Returns whether a queue's operations run on the main thread.
    static func isMain(_ queue: OperationQueue) -> Bool {
        queue === OperationQueue.main || queue.underlyingQueue === DispatchQueue.main
    }
}
