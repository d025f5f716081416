extension Deferred: CustomDebugStringConvertible, CustomReflectable {
    /// The type, and whether it is filled, with the value if it is: what a debugger, a log or a failed expectation shows.
    ///
    /// ```swift
    /// let answer = Deferred<Int>()
    /// print(answer)            // Deferred<Int>(unfilled)
    /// answer.fill(with: 42)
    /// print(answer.future)     // Future<Int>(filled: 42)
    /// ```
    ///
    /// Looking at a future does not disturb it. It is one acquiring load, as ``peek()`` is: it registers nothing, keeps
    /// nothing and takes no lock, so that it can neither delay a fill nor hide a race that is being hunted. The text is
    /// true of one moment: an unfilled future may be filled before it is printed; a filled one never changes again.
    ///
    /// It shows the value by its own `debugDescription`, and never the storage. The format is for people, and may change.
    public var debugDescription: String { describe(self) }

    /// Two children, `isFilled` and `value`, or only the first while there is no value. See ``debugDescription``.
    public var customMirror: Mirror { reflect(self) }
}

extension Future: CustomDebugStringConvertible, CustomReflectable {
    /// The type, and whether it is filled, with the value if it is. See ``Deferred/debugDescription``.
    public var debugDescription: String { describe(self) }

    /// Two children, `isFilled` and `value`, or only the first while there is no value.
    public var customMirror: Mirror { reflect(self) }
}

private func describe<Subject: FutureProtocol>(_ future: Subject) -> String {
    guard let value = future.peek() else { return "\(Subject.self)(unfilled)" }
    return "\(Subject.self)(filled: \(String(reflecting: value)))"
}

private func reflect<Subject: FutureProtocol>(_ future: Subject) -> Mirror {
    guard let value = future.peek() else { return Mirror(future, children: ["isFilled": false], displayStyle: .struct) }
    return Mirror(future, children: ["isFilled": true, "value": value], displayStyle: .struct)
}
