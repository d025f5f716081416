extension Future {
    /// Runs `body` on `executor`, and returns a future of its result.
    ///
    /// Use it to move a computation or a blocking call off the current thread.
    ///
    /// ```swift
    /// let digest = Future.async(on: .any()) { sha256(of: file) }
    /// ```
    ///
    /// - Parameters:
    ///   - executor: The executor that runs `body`.
    ///   - body: A closure, retained until it has run.
    /// - Returns: A future that is filled on the thread that ran `body`; never, if the executor drops `body`.
    /// - Complexity: O(1), plus the executor's cost of a submission.
    @inlinable
    public static func async(
        on executor: some Executor,
        execute body: @escaping @Sendable () -> Value
    ) -> Future {
        let result = FutureStorage<Value>()
        // An executor that breaks its contract and runs this twice must not fill twice.
        executor.submit { _ = result.fill(with: body()) }
        return Future(result)
    }

    /// Runs `body` on the main actor, and returns a future of its result. See ``async(on:execute:)-(Executor,_)``.
    public static func async(
        on executor: MainActorExecutor,
        execute body: @escaping @MainActor @Sendable () -> Value
    ) -> Future {
        async(on: .main) { MainActor.assumeIsolated { body() } }
    }
}
