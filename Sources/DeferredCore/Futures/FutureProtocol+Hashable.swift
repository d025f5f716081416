/// Futures are equal if they are copies of one. What they are filled with is not compared.
extension Deferred: Hashable {
    /// Whether filling the one fills the other.
    public static func == (one: Deferred, other: Deferred) -> Bool { one.storage === other.storage }

    /// Feeds the identity of the future into `hasher`.
    public func hash(into hasher: inout Hasher) { hasher.combine(ObjectIdentifier(storage)) }
}

/// Futures are equal if they are copies of one. What they are filled with is not compared.
extension Future: Hashable {
    /// Whether both are the same future.
    public static func == (one: Future, other: Future) -> Bool { one.storage === other.storage }

    /// Feeds the identity of the future into `hasher`.
    public func hash(into hasher: inout Hasher) { hasher.combine(ObjectIdentifier(storage)) }
}
