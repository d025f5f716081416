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
        if !SessionPlatform.isCorelibs { task.delegate = self }
    }

    /// Takes back a task that `configure` has given to another delegate, and returns that delegate.
    func reclaim(_ task: URLSessionTask) -> (any URLSessionTaskDelegate)? {
        // If `configure` has resumed it, which it must not, setting the delegate would trap.
        guard task.state == .suspended, let given = task.delegate, given !== self else { return nil }
        task.delegate = SessionPlatform.isCorelibs ? nil : self
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
        if SessionPlatform.isCorelibs { URLSessionEngine.control.async(execute: body) } else { body() }
    }
}

/// Takes back a request's `Expect`, which the server need not see: RFC 9110, section 10.1.1.
enum Expectations {
    /// Returns a request as the platform may send it.
    ///
    /// On Linux, after a 417 in the middle of an upload, libcurl would send the body again, but Foundation doesn't go back
    /// to its beginning, and the task never ends. No issue is known upstream. Test: `URLClientTests`, "an upload succeeds
    /// though the server meets no expectation".
    static func sent(_ request: URLRequest) -> URLRequest {
        guard SessionPlatform.isCorelibs, request.value(forHTTPHeaderField: "Expect") != nil else { return request }
        var result = request
        result.setValue(nil, forHTTPHeaderField: "Expect")
        return result
    }
}
