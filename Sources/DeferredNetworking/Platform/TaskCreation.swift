internal import Dispatch

/// Where a session's tasks are made.
///
/// On Linux that waits for a queue that all sessions share, so nobody who begins something is to wait with it. On Apple's
/// platforms it takes microseconds, and has to happen before `begin…` returns: the session may be the user's, who may
/// invalidate it in the next line, and making a task on a session that is invalidated raises an exception, which nobody can
/// catch. On a session that was invalidated before, it does so here as in the session's own methods. Test: `URLSessionTests`,
/// "a session that is invalidated right behind begin lets it end".
enum TaskCreation {
    static func perform(_ body: @escaping @Sendable () -> Void) {
        #if canImport(FoundationNetworking)
        URLSessionEngine.control.async(execute: body)
        #else
        body()
        #endif
    }
}
