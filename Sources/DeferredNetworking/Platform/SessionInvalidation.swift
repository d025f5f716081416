import Foundation

#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

/// Invalidates a session whose tasks have ended, or were cancelled.
///
/// On Linux, `invalidateAndCancel` reads the session's tasks on the caller's thread, while its queue removes those that
/// have ended: that trapped once in some forty runs of all tests, too seldom for a test of its own. No issue is known
/// upstream. `finishTasksAndInvalidate` reads them on that queue. That it ends, too, is tested by `URLClientTests`, "a
/// client may shut down while its session removes the last tasks".
enum SessionInvalidation {
    static func perform(_ session: URLSession) {
        if SessionPlatform.isCorelibs { session.finishTasksAndInvalidate() } else { session.invalidateAndCancel() }
    }
}
