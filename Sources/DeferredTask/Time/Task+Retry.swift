public import DeferredCore

extension Task {
    /// Returns a task that starts work, and starts it again after failures, as the policy allows.
    ///
    /// ```swift
    /// let page = Task.retry(RetryPolicy(attempts: 3)) { _ in session.beginDataTask(with: url) }
    /// ```
    ///
    /// - Parameters:
    ///   - policy: The number of attempts, the pauses, and the errors that are retried. Its closures are called with the
    ///     task-local values of the caller, on the thread that ends an attempt.
    ///   - executor: The executor that runs `start`.
    ///   - start: Starts an attempt; its argument is the number of the attempt, the first being 1. An error that it
    ///     throws counts as a failure of the attempt. Called with the task-local values of the caller. Kept until the end.
    /// - Returns: A task that ends as the last attempt does. Cancelling it cancels the running attempt, or the pause,
    ///   and ends it at once with `CancellationError`.
    public static func retry(
        _ policy: RetryPolicy,
        on executor: some Executor = .immediate,
        _ start: @escaping @Sendable (_ attempt: Int) throws -> Task
    ) -> Task {
        let combination = Combination<Success>(expected: 1)
        let task = combination.task(endsAtOnce: true)
        let retrying = Retrying(policy: policy, executor: executor, combination: combination, start: start)
        // The first attempt runs in the caller's task, if it can.
        if executor is ImmediateExecutor, Trampoline.nest({ retrying.begin(1) }) != nil { return task }
        retrying.attempt(1)
        return task
    }
}

/// The attempts of one `retry`.
private struct Retrying<Success: Sendable, E: Executor>: Sendable {
    let policy: RetryPolicy
    let executor: E
    let locals: TaskLocals? = TaskLocals(ofRunningCode: ())
    let combination: Combination<Success>
    let start: @Sendable (Int) throws -> Task<Success>

    func attempt(_ number: Int) {
        // As a handler, which an executor can't run twice.
        FutureStorage(filledWith: ()).upon(executor) {
            // An attempt may itself retry something, and so on.
            Trampoline.perform { locals.restore { begin(number) } }
        }
    }

    func begin(_ number: Int) {
        guard !combination.isEnded else { return }
        do {
            combination.add(try start(number)) { ended(number, $0) }
        } catch {
            ended(number, .failure(error))
        }
    }

    private func ended(_ number: Int, _ result: Task<Success>.Result) {
        guard case .failure(let error) = result,
            let pause = locals.restore({
                policy.allowsAnother(after: number, error) ? policy.pause(after: number) : nil
            })
        else { return combination.end(with: result) }
        combination.keep(ClockTimer(after: pause, clock: policy.clock) { attempt(number + 1) })
    }
}
