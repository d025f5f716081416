/// Futures are equal if they are copies of one future. Their values are not compared.
extension Deferred: Hashable {
    /// Returns a Boolean value that indicates whether filling one future fills the other.
    public static func == (one: Deferred, other: Deferred) -> Bool { one.storage === other.storage }

    /// Feeds the identity of the future into `hasher`.
    public func hash(into hasher: inout Hasher) { hasher.combine(ObjectIdentifier(storage)) }
}

/// Futures are equal if they are copies of one future. Their values are not compared.
extension Future: Hashable {
    /// Returns a Boolean value that indicates whether both are the same future.
    public static func == (one: Future, other: Future) -> Bool { one.storage === other.storage }

    /// Feeds the identity of the future into `hasher`.
    public func hash(into hasher: inout Hasher) { hasher.combine(ObjectIdentifier(storage)) }
}
