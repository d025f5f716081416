import Foundation

#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

/// Invalidates a session whose tasks have ended, or were cancelled.
///
/// On Linux, `invalidateAndCancel` reads the session's tasks on the caller's thread, while its queue removes those that
/// have ended, which sometimes traps; no issue is known upstream. `finishTasksAndInvalidate` reads them on that queue.
/// Test: `URLClientTests`, "a client may shut down while its session removes the last tasks".
enum SessionInvalidation {
    static func perform(_ session: URLSession) {
        #if canImport(FoundationNetworking)
        session.finishTasksAndInvalidate()
        #else
        session.invalidateAndCancel()
        #endif
    }
}
