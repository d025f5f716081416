internal import DeferredCore

extension HTTPTask {
    /// Has the next loader load this task, unless it is cancelled: then it is completed as such, and `next` never sees it.
    ///
    /// - Parameter next: If `nil`, the chain has no terminal loader, and the task fails with
    ///   ``HTTPError/Code/cannotConnect``.
    public func pass(to next: (any HTTPLoader)?) {
        guard !failIfCancelled(), let next = checked(next) else { return }
        next.load(self)
    }

    /// Has the next loader load another request for this task: a changed one, or the same once more.
    ///
    /// It is loaded with a task of its own, which is cancelled with this one and reports progress for it. If this one is
    /// cancelled already, it is completed as such, and `next` never sees anything.
    ///
    /// - Parameters:
    ///   - request: What to load.
    ///   - next: See ``pass(to:)``.
    ///   - completion: Called once with the result. It has to complete this task, or to pass it on again. By default, the
    ///     result is this task's, too.
    public func pass(
        _ request: HTTPRequest,
        to next: (any HTTPLoader)?,
        completion: (@Sendable (HTTPResult) -> Void)? = nil
    ) {
        guard !failIfCancelled(), let next = checked(next) else { return }
        let child = HTTPTask(request, reporter: reporter)
        // Weakly, so that a child that a loader lets go of completes.
        let registration = addCancellationHandler { [weak child] in child?.cancel() }
        child.addCompletionHandler { result in
            registration.cancel()
            if let completion { completion(result) } else { self.complete(with: result) }
        }
        // It may have been cancelled meanwhile.
        if !child.failIfCancelled() { next.load(child) }
    }

    private func checked(_ next: (any HTTPLoader)?) -> (any HTTPLoader)? {
        if next == nil { fail(.cannotConnect, underlying: MissingTerminalLoader()) }
        return next
    }
}

/// Why a request fails that has come to the end of its chain.
public struct MissingTerminalLoader: Error, CustomStringConvertible {
    /// One line for a log.
    public var description: String { "the chain has no terminal loader; end it with one, such as URLSessionLoader" }
}
