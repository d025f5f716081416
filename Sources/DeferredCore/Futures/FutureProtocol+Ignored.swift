extension FutureProtocol {
    /// A future that says only that the value is there.
    ///
    /// For waiting on futures of different types as if they were of one: `[saved.ignored(), sent.ignored()].allFilled()`.
    ///
    /// - Returns: A future that is filled when this one is, on the same thread. It does not keep the value.
    /// - Complexity: O(1).
    @inlinable
    public func ignored() -> Future<Void> {
        map { _ in }
    }
}
