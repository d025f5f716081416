internal import DeferredCore

extension HTTPTask {
    /// Has the next loader load this task, unless it is cancelled: then it is completed as such, and `next` never sees
    /// it.
    ///
    /// - Parameter next: If `nil`, the chain has no terminal loader, and the task fails with
    ///   ``HTTPError/Code/cannotConnect``.
    public func pass(to next: (any HTTPLoader)?) {
        if failIfCancelled() { return }
        // Not bound to a name: that would be a copy of the loader.
        if next != nil { next?.load(self) } else { continuation(isLast: true)?.load(self) }
    }

    /// Has the next loader load another request for this task: a changed one, or the same once more.
    ///
    /// It is loaded with a task of its own, which is cancelled with this one and reports progress for it. If this one
    /// is cancelled already, it is completed as such, and `next` never sees anything. If this one is completed before
    /// the other one, that is cancelled.
    ///
    /// - Parameters:
    ///   - request: What to load.
    ///   - next: See ``pass(to:)``.
    ///   - completion: Called once with the result, after the completion handlers that were added further on. It has to
    ///     complete this task, or to pass it on again. By default, the result is this task's, too.
    /// - Returns: The task that was passed on; `nil` if there is none, since this one is complete.
    @discardableResult
    public func pass(
        _ request: HTTPRequest,
        to next: (any HTTPLoader)?,
        completion: (@Sendable (HTTPResult) -> Void)? = nil
    ) -> HTTPTask? {
        send(request, to: next, completion: completion).map { HTTPTask($0, isLoaders: false) }
    }

    /// The same for loaders that don't need a task for it.
    ///
    /// - Parameter endsCancelled: Whether a task that is cancelled is completed as such, as is right for a loader that
    ///   does nothing else with it.
    @discardableResult
    func send(
        _ request: HTTPRequest,
        to next: (any HTTPLoader)?,
        endsCancelled: Bool = true,
        completion: (@Sendable (HTTPResult) -> Void)? = nil
    ) -> HTTPExecution? {
        if endsCancelled ? failIfCancelled() : execution.isComplete || execution.isToStop { return nil }
        if next == nil {
            guard let next = continuation(isLast: false) else { return nil }
            return send(request, to: next, endsCancelled: endsCancelled, completion: completion)
        }
        let part = HTTPExecution(request, partOf: self, completion)
        let child = HTTPTask(part, isLoaders: true)
        if execution.adopt(part) {
            next?.load(child)
        } else {
            // Cancelled, or completed, meanwhile.
            part.cancel()
            part.fail(.cancelled)
        }
        return part
    }

    /// The loader after a link that doesn't know it; the task fails if there is none.
    private func continuation(isLast: Bool) -> (any HTTPLoader)? {
        if let next = execution.continuation(isLast: isLast) { return next }
        fail(.cannotConnect, underlying: MissingTerminalLoader())
        return nil
    }
}

/// The cause of the failure of a request that reached the end of a chain without a terminal loader.
public struct MissingTerminalLoader: Error, CustomStringConvertible {
    /// One line for a log.
    public var description: String { "the chain has no terminal loader; end it with one, such as URLSessionLoader" }
}
