internal import DeferredNetworking

extension HTTPHeaders.Field: CustomStringConvertible, CustomDebugStringConvertible, CustomReflectable {
    /// The field in one line; of credentials, only the name.
    public var description: String {
        DisplayText.line("\(name): \(Redaction.isSecret(name) ? Redaction.mark : value)")
    }

    /// The same as ``description``.
    public var debugDescription: String { description }

    /// No children, so that `dump` reveals no credentials.
    public var customMirror: Mirror { Mirror(self, children: []) }
}

extension HTTPHeaders: CustomStringConvertible, CustomDebugStringConvertible, CustomReflectable {
    /// The fields; of credentials, only the names.
    public var description: String { "[" + fields.map(\.description).joined(separator: ", ") + "]" }

    /// The same as ``description``.
    public var debugDescription: String { description }

    /// The fields, each with its own description.
    public var customMirror: Mirror { Mirror(self, unlabeledChildren: fields, displayStyle: .collection) }
}
