extension Task {
    /// A task that succeeds without a value when this one succeeds with one.
    ///
    /// - Returns: A task whose cancellation cancels this one too.
    public func ignored() -> Task<Void> {
        map { _ in }
    }
}
