internal import DeferredCore

extension Task: CustomDebugStringConvertible, CustomReflectable {
    /// A description for debuggers, logs and failed expectations: the type, and how far the task has come.
    ///
    /// ```swift
    /// let task = Task(promise)
    /// print(task)  // Task<Int>(running)
    /// promise.succeed(with: 42)
    /// print(task)  // Task<Int>(succeeded: 42)
    /// ```
    ///
    /// A task that was asked to stop and has not ended is described as `cancelled`. The text is a snapshot; making it
    /// registers nothing and runs no handler. The format is for people, and may change.
    public var debugDescription: String {
        switch storage.peek() {
        case nil: "\(Self.self)(\(isCancelled ? "cancelled" : "running"))"
        case .success(let value): "\(Self.self)(succeeded: \(String(reflecting: value)))"
        case .failure(let error): "\(Self.self)(failed: \(String(reflecting: error)))"
        }
    }

    /// A mirror with the children `isCancelled` and, once the task has ended, `result`. See ``debugDescription``.
    public var customMirror: Mirror {
        var children: [Mirror.Child] = [("isCancelled", isCancelled)]
        if let result = storage.peek() { children.append(("result", result)) }
        return Mirror(self, children: children, displayStyle: .struct)
    }
}

extension Task.Promise: CustomDebugStringConvertible, CustomReflectable {
    /// A description of the type, and the result if the promise is filled. See ``Task/debugDescription``.
    public var debugDescription: String {
        guard let result = storage.peek() else { return "\(Task<Success>.self).Promise(unfilled)" }
        return "\(Task<Success>.self).Promise(filled: \(String(reflecting: result)))"
    }

    /// A mirror with the children `isFilled` and, once the promise is filled, `result`.
    public var customMirror: Mirror {
        guard let result = storage.peek() else { return Mirror(self, children: ["isFilled": false]) }
        return Mirror(self, children: ["isFilled": true, "result": result])
    }
}
