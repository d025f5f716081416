extension Task {
    /// Returns a task that succeeds without a value when this one succeeds.
    ///
    /// - Returns: A task whose cancellation cancels this one too.
    public func ignored() -> Task<Void> {
        map { _ in }
    }
}
