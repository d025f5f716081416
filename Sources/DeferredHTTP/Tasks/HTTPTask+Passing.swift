internal import DeferredCore

extension HTTPTask {
    /// Passes this task to the next loader, unless it is cancelled: then it fails with ``HTTPError/Code/cancelled``,
    /// and `next` never sees it.
    ///
    /// - Parameter next: The next loader. If `nil`, the chain has no terminal loader, and the task fails with
    ///   ``HTTPError/Code/cannotConnect``.
    public func pass(to next: (any HTTPLoader)?) {
        pass(to: NextLoader(next))
    }

    func pass(to next: NextLoader) {
        if !failIfCancelled() { next.loader.load(self) }
    }

    /// Passes another request for this task to the next loader: a changed one, or the same one again.
    ///
    /// The request is loaded with a separate task, which is cancelled with this one and reports its progress to this
    /// one. If this task is cancelled already, it fails with ``HTTPError/Code/cancelled``, and `next` never sees
    /// anything. If this task completes before the other one, the other one is cancelled.
    ///
    /// - Parameters:
    ///   - request: The request to load.
    ///   - next: The next loader. See ``pass(to:)``.
    ///   - completion: Called once with the result, after the completion handlers that were added further down the
    ///     chain. It has to complete this task, or to pass it on again. By default, this task completes with the
    ///     result.
    /// - Returns: The task that was passed on; `nil` if there is none, since this one is complete.
    @discardableResult
    public func pass(
        _ request: HTTPRequest,
        to next: (any HTTPLoader)?,
        completion: (@Sendable (HTTPResult) -> Void)? = nil
    ) -> HTTPTask? {
        send(request, to: NextLoader(next), completion: completion).map { HTTPTask($0, isLoaders: false) }
    }

    /// Passes a changed request for this task to the next loader, without a separate execution: whatever ends one of the
    /// tasks ends both, and to the later one, an end by the earlier one is a cancellation. For a loader that does nothing
    /// else with the task.
    func pass(_ request: HTTPRequest, to next: NextLoader) {
        if !failIfCancelled() { next.loader.load(HTTPTask(self, changedTo: request)) }
    }

    /// Does the same as the public `pass` for loaders that don't need a task for the part.
    ///
    /// - Parameter endsCancelled: Whether a task that is cancelled is completed as such, as is right for a loader that
    ///   does nothing else with it.
    /// - Parameter state: A shared state that the part has met.
    @discardableResult
    func send(
        _ request: HTTPRequest,
        to next: NextLoader,
        endsCancelled: Bool = true,
        marking state: AnyObject? = nil,
        completion: (@Sendable (HTTPResult) -> Void)? = nil
    ) -> HTTPExecution? {
        if endsCancelled ? failIfCancelled() : execution.isComplete || execution.isToStop { return nil }
        if next.isMissing {
            guard let next = continuation(isLast: false) else { return nil }
            return send(
                request,
                to: NextLoader(next),
                endsCancelled: endsCancelled,
                marking: state,
                completion: completion
            )
        }
        let part = HTTPExecution(request, partOf: self, marking: state, completion)
        let child = HTTPTask(part, isLoaders: true)
        if execution.adopt(part) {
            next.loader.load(child)
        } else {
            // The task was cancelled or completed meanwhile.
            part.cancel()
            part.fail(.cancelled)
        }
        return part
    }

    /// Returns the next loader of a link that doesn't know it; fails the task if there is none.
    func continuation(isLast: Bool) -> (any HTTPLoader)? {
        if let next = execution.continuation(isLast: isLast) { return next }
        fail(.cannotConnect, underlying: MissingTerminalLoader())
        return nil
    }
}

/// The underlying error of a request that reached the end of a chain without a terminal loader.
public struct MissingTerminalLoader: Error, CustomStringConvertible {
    /// One line for a log.
    public var description: String {
        "the chain has no terminal loader; end it with one, such as URLSessionLoader, and join objects where their type "
            + "is known"
    }
}
