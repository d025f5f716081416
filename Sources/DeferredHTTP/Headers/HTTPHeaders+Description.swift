internal import DeferredNetworking

extension HTTPHeaders.Field: CustomStringConvertible, CustomDebugStringConvertible, CustomReflectable {
    /// The field in one line; of credentials, the name alone.
    public var description: String {
        DisplayText.line("\(name): \(Redaction.isSecret(name) ? Redaction.mark : value)")
    }

    /// The same as ``description``.
    public var debugDescription: String { description }

    /// No children, lest `dump` tells credentials.
    public var customMirror: Mirror { Mirror(self, children: []) }
}

extension HTTPHeaders: CustomStringConvertible, CustomDebugStringConvertible, CustomReflectable {
    /// The fields, of credentials the names alone.
    public var description: String { "[" + fields.map(\.description).joined(separator: ", ") + "]" }

    /// The same as ``description``.
    public var debugDescription: String { description }

    /// The fields as they describe themselves.
    public var customMirror: Mirror { Mirror(self, unlabeledChildren: fields, displayStyle: .collection) }
}
