internal import Dispatch

/// Creates a session's tasks.
///
/// On Linux that waits for a queue that all sessions share, so no caller of `begin…` should wait for it. On Apple's
/// platforms it takes microseconds, and has to happen before `begin…` returns: the session may be the user's, who may
/// invalidate it in the next line, and creating a task on an invalidated session raises an exception, which nobody can
/// catch. On a session that was invalidated before, it does so here as in the session's own methods. Test:
/// `URLSessionTests`, "a session that is invalidated right behind begin lets it end".
enum TaskCreation {
    static func perform(_ body: @escaping @Sendable () -> Void) {
        #if canImport(FoundationNetworking)
        URLSessionEngine.control.async(execute: body)
        #else
        body()
        #endif
    }
}
