extension FutureProtocol {
    /// Returns a future that is filled when this one is, without the value.
    ///
    /// Use it to combine futures of different types: `[saved.ignored(), sent.ignored()].allFilled()`.
    ///
    /// - Returns: A future that is filled on the same thread as this one. It does not retain the value.
    /// - Complexity: O(1).
    @inlinable
    public func ignored() -> Future<Void> {
        map { _ in }
    }
}
