import Foundation

#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

/// Tasks and their delegate.
///
/// On Linux a task has none, or it gets the redirects; all others of its callbacks go to the session's. On Darwin, that of a
/// task goes before that of its session, which may be the user's. Tests: `URLSessionTests`, "a task that configure resumes,
/// suspends or cancels ends all the same" and "a delegate that configure gives the task decides".
extension SessionDelegate {
    /// Makes a new task report here.
    func prepare(_ task: URLSessionTask) {
        #if !canImport(FoundationNetworking)
        task.delegate = self
        #endif
    }

    /// Takes back a task that `configure` has given to another delegate, and returns that.
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
