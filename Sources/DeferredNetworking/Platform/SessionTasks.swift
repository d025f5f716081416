import Foundation

#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

/// Assigns tasks to the delegate.
///
/// On Linux a task must have no delegate, which would get the redirects; all other callbacks go to the session's
/// delegate. On Darwin, the delegate of a task takes precedence over that of its session, which may be the user's.
/// Tests: `URLSessionTests`, "a task that configure resumes, suspends or cancels ends all the same" and "a delegate
/// that configure gives the task decides".
extension SessionDelegate {
    /// Makes a new task report to this delegate.
    func prepare(_ task: URLSessionTask) {
        #if !canImport(FoundationNetworking)
        task.delegate = self
        #endif
    }

    /// Takes back a task that `configure` has given to another delegate, and returns that delegate.
    func reclaim(_ task: URLSessionTask) -> (any URLSessionTaskDelegate)? {
        // If `configure` has resumed it, which it must not, setting the delegate would trap.
        guard task.state == .suspended, let given = task.delegate, given !== self else { return nil }
        #if canImport(FoundationNetworking)
        task.delegate = nil
        #else
        task.delegate = self
        #endif
        return given
    }
}

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
