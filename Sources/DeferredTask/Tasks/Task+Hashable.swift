internal import DeferredCore

/// Tasks are equal if they are copies of one task, like Swift's own, so that they can be kept in a `Set`.
extension Task: Hashable {
    /// Returns a Boolean value that indicates whether both are the same task.
    public static func == (one: Task, other: Task) -> Bool { one.storage === other.storage }

    /// Feeds the task's identity into `hasher`.
    public func hash(into hasher: inout Hasher) { hasher.combine(ObjectIdentifier(storage)) }
}
