extension Deferred: CustomDebugStringConvertible, CustomReflectable {
    /// A description for debuggers, logs and failed expectations: the type, and the value if the future is filled.
    ///
    /// ```swift
    /// let answer = Deferred<Int>()
    /// print(answer)            // Deferred<Int>(unfilled)
    /// answer.fill(with: 42)
    /// print(answer.future)     // Future<Int>(filled: 42)
    /// ```
    ///
    /// It is one acquiring load: it registers no handler, runs none, retains nothing and takes no lock, so it can neither
    /// delay a fill nor hide a race you are debugging. The text is a snapshot: an unfilled future may be filled
    /// before the text is printed; a filled one never changes again.
    ///
    /// The value is shown with its `debugDescription`; the storage is never shown. The format is for people, and may
    /// change.
    public var debugDescription: String { describe(self, storage.peek()) }

    /// A mirror with the children `isFilled` and, once the future is filled, `value`. See ``debugDescription``.
    public var customMirror: Mirror { reflect(self, storage.peek()) }
}

extension Future: CustomDebugStringConvertible, CustomReflectable {
    /// A description of the type, and the value if the future is filled. See ``Deferred/debugDescription``.
    public var debugDescription: String { describe(self, storage.peek()) }

    /// A mirror with the children `isFilled` and, once the future is filled, `value`.
    public var customMirror: Mirror { reflect(self, storage.peek()) }
}

// Not `peek()`, which may run handlers.
private func describe<Subject: FutureProtocol>(_ future: Subject, _ value: Subject.Value?) -> String {
    guard let value else { return "\(Subject.self)(unfilled)" }
    return "\(Subject.self)(filled: \(String(reflecting: value)))"
}

private func reflect<Subject: FutureProtocol>(_ future: Subject, _ value: Subject.Value?) -> Mirror {
    guard let value else { return Mirror(future, children: ["isFilled": false], displayStyle: .struct) }
    return Mirror(future, children: ["isFilled": true, "value": value], displayStyle: .struct)
}
