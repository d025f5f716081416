public import DeferredCore

extension LatestTask {
    /// Cancels the task before, waits for a pause in the calls, and then starts a task and delivers its result.
    ///
    /// Debounces: of many calls with less than `pause` between them, only the last calls its `begin`. Each call
    /// supersedes those before at once, whether they still wait or their tasks already run.
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
    ///   - pause: How long nothing else may be started before `begin` is called. Zero or less still leaves the thread;
    ///     2³² seconds (136 years) or more never end.
    ///   - clock: What measures it; inject a manual one in tests.
    ///   - executor: Where `begin` and `deliver` run.
    ///   - begin: Starts the task, unless it is superseded before. What it throws is delivered as a failure. Kept
    ///     until it has run or is superseded.
    ///   - deliver: Called at most once; see ``start(_:on:deliver:)-(_,Executor,_)``.
    public func start(
        after pause: Duration,
        clock: some Clock<Duration> = ContinuousClock(),
        on executor: some Executor,
        _ begin: @escaping @Sendable () throws -> Task<Success>,
        deliver: @escaping @Sendable (Task<Success>.Result) -> Void
    ) {
        let task = Task.success(()).delay(for: pause, clock: clock).flatMap(on: executor) { try begin() }
        start(task, on: executor, deliver: deliver)
    }

    /// Cancels the task before, waits for a pause in the calls, and then starts a task and delivers its result on the
    /// main actor. See ``start(after:clock:on:_:deliver:)-(_,_,Executor,_,_)``.
    @MainActor
    public func start(
        after pause: Duration,
        clock: some Clock<Duration> = ContinuousClock(),
        on executor: MainActorExecutor,
        _ begin: @escaping @MainActor @Sendable () throws -> Task<Success>,
        deliver: @escaping @MainActor @Sendable (Task<Success>.Result) -> Void
    ) {
        let task = Task.success(()).delay(for: pause, clock: clock).flatMap(on: executor) { try begin() }
        start(task, on: executor, deliver: deliver)
    }
}
