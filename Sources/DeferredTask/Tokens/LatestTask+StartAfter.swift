public import DeferredCore

extension LatestTask {
    /// Cancels the previous task, waits for a pause in the calls, and then starts a task and delivers its result.
    ///
    /// Debounces: of many calls less than `pause` apart, only the last calls its `begin`. Each call immediately
    /// supersedes the calls before it, whether they still wait or their tasks already run.
    ///
    /// ```swift
    /// search.start(after: .milliseconds(300), on: .mainActor) {
    ///     store.find(field.text)
    /// } deliver: { result in
    ///     list.items = (try? result.get()) ?? []
    /// }
    /// ```
    ///
    /// - Parameters:
    ///   - pause: The time without another call that has to pass before `begin` is called. Even zero or less changes
    ///     the thread; 2³² seconds (136 years) or more never end.
    ///   - clock: The clock that measures `pause`; inject a manual one in tests.
    ///   - executor: The executor that runs `begin` and `deliver`.
    ///   - begin: Starts the task, unless the call is superseded before. An error that it throws is delivered as a
    ///     failure. Kept until it has run or is superseded.
    ///   - deliver: Called at most once; see ``start(_:on:deliver:)-(_,Executor,_)``.
    public func start(
        after pause: Duration,
        clock: some Clock<Duration> = ContinuousClock(),
        on executor: some Executor,
        _ begin: @escaping @Sendable () throws -> Task<Success>,
        deliver: @escaping @Sendable (Task<Success>.Result) -> Void
    ) {
        let locals: TaskLocals? = TaskLocals(ofRunningCode: ())
        start(
            superseding: {
                Task.success(()).delay(for: pause, clock: clock).flatMap(on: executor) { try locals.restore(begin) }
            },
            on: executor,
            deliver: deliver
        )
    }

    /// Cancels the previous task, waits for a pause in the calls, and then starts a task and delivers its result on the
    /// main actor. See ``start(after:clock:on:_:deliver:)-(_,_,Executor,_,_)``.
    @MainActor
    public func start(
        after pause: Duration,
        clock: some Clock<Duration> = ContinuousClock(),
        on executor: MainActorExecutor,
        _ begin: @escaping @MainActor @Sendable () throws -> Task<Success>,
        deliver: @escaping @MainActor @Sendable (Task<Success>.Result) -> Void
    ) {
        start(after: pause, clock: clock, on: .main) {
            try MainActor.assumeIsolated { try begin() }
        } deliver: { result in
            MainActor.assumeIsolated { deliver(result) }
        }
    }
}
