internal import DeferredCore
import Dispatch
import Foundation

#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

/// The engines of the sessions that users made, where it isn't the session itself.
///
/// On Linux, responses and data go to the delegate of the session and never to one of the task
/// (https://github.com/swiftlang/swift-corelibs-foundation/issues/5187), a completion handler sees no progress, and
/// creating a task on an invalidated session traps. On Apple's platforms a task has a delegate, but it is called on the
/// session's queue; if that is the main one, bodies would be written there, and a task that is waited for there would never
/// end. So each of these sessions gets another one, made once from the
/// configuration that it has then, which has our delegate and outlives an invalidation. It goes when the user's session
/// is gone and it is idle; that is looked at whenever a transfer on any session begins or ends. Tests: `TransferTests`,
/// "A transfer on an invalidated session still runs" and "One session has one engine, which goes with it";
/// `URLSessionTests`, "a session whose delegate is called on the main queue can be waited for there", "the connections of dropped sessions are closed" and "a task that configure resumes, suspends or
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
        // Made outside the lock: it waits for the queue that all sessions share. Of two made at once, one is dropped.
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

    /// An object may get the address of one that is gone, so an identifier can stand for several.
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
    /// The right to make tasks on a session that the user made, or with the configuration of one.
    static func lease(for session: URLSession) -> EngineLease {
        #if !canImport(FoundationNetworking)
        if !isMain(session.delegateQueue) { return EngineLease(URLSessionEngine(borrowing: session)) }
        #endif
        return SessionEngines.shared.lease(for: session)
    }

    /// Whether what is added to a queue waits for the main thread.
    static func isMain(_ queue: OperationQueue) -> Bool {
        queue === OperationQueue.main || queue.underlyingQueue === DispatchQueue.main
    }
}
