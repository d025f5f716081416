extension Future {
    /// A future of what `body` returns, run on `executor`.
    ///
    /// For moving work off the current thread: a computation, or a call that blocks.
    ///
    /// ```swift
    /// let digest = Future.async(on: .any()) { sha256(of: file) }
    /// ```
    ///
    /// - Parameters:
    ///   - executor: Where `body` runs.
    ///   - body: Kept until it has run.
    /// - Returns: A future that is filled by the thread that ran `body`; never, if the executor drops `body`.
    /// - Complexity: O(1), and whatever the executor takes for a submission.
    @inlinable
    public static func async(
        on executor: some Executor,
        execute body: @escaping @Sendable () -> Value
    ) -> Future {
        let result = FutureStorage<Value>()
        // An executor that breaks its word and runs this twice must not fill twice.
        executor.submit { _ = result.fill(with: body()) }
        return Future(result)
    }

    /// A future of what `body` returns, run on the main actor. See ``async(on:execute:)-(Executor,_)``.
    public static func async(
        on executor: MainActorExecutor,
        execute body: @escaping @MainActor @Sendable () -> Value
    ) -> Future {
        async(on: .main) { MainActor.assumeIsolated { body() } }
    }
}
