public import DeferredCore
public import DeferredHTTP
internal import DeferredTask

/// A terminal loader that answers from a script, so that a test of a chain needs no network.
///
/// ```swift
/// let (stub, clock) = (StubLoader(.failure(.timedOut), .response(503), .response(200)), ManualClock())
/// let task = (Retry(clock: clock) --> stub).load(HTTPRequest(host: "host"))
/// try await clock.waitForSleepers()
/// clock.advance(by: .seconds(10))
/// …
/// #expect(stub.requests.count == 3)
/// ```
///
/// **Thread safety:** all members can be used from any thread; answers without a delay are given before `load` returns.
/// **Cancelling** completes a task at once with `.cancelled`, unless the answer ignores that. **Lifetime:** the stub keeps
/// the tasks that it has not answered, and all requests.
public final class StubLoader: HTTPLoader {
    private struct State: Sendable {
        var requests: [HTTPRequest] = []
        var inFlight: [HTTPTask] = []
        var resetCount = 0
    }

    private let state = Lock(State())
    private let clock: any Clock<Duration>
    private let answer: @Sendable (_ number: Int, HTTPRequest) -> Answer

    /// Creates a stub that gives its answers in order, and the last of them again and again.
    ///
    /// - Parameters:
    ///   - answers: Without any, every request stays pending.
    ///   - clock: What measures delays.
    public init(_ answers: Answer..., clock: any Clock<Duration> = ContinuousClock()) {
        self.clock = clock
        answer = { number, _ in answers.isEmpty ? .pending : answers[min(number, answers.count - 1)] }
    }

    /// Creates a stub that asks a closure for each answer, on the thread that loads.
    public init(
        clock: any Clock<Duration> = ContinuousClock(),
        answering answer: @escaping @Sendable (HTTPRequest) -> Answer
    ) {
        self.clock = clock
        self.answer = { answer($1) }
    }

    /// All requests that have arrived, in order.
    public var requests: [HTTPRequest] { state.withLock { $0.requests } }

    /// The tasks that are not completed, in order. A test can complete them by hand.
    public var tasksInFlight: [HTTPTask] { state.withLock { $0.inFlight } }

    /// How often the stub was reset.
    public var resetCount: Int { state.withLock { $0.resetCount } }

    /// Notes the request, and answers it, unless it is cancelled.
    public func load(_ task: HTTPTask) {
        if task.failIfCancelled() { return }
        let number = state.withLock { state in
            state.requests.append(task.request)
            state.inFlight.append(task)
            return state.requests.count - 1
        }
        task.addCompletionHandler { [weak self, id = task.id] _ in
            self?.state.withLock { $0.inFlight.removeAll { $0.id == id } }
        }
        let answer = answer(number, task.request)
        if answer.heedsCancellation {
            task.addCancellationHandler { [weak task] in task?.fail(.cancelled) }
        }
        play(answer.steps[...], answer.ending, task)
    }

    /// Counts the reset.
    public func reset() -> Future<Void> {
        state.withLock { $0.resetCount += 1 }
        return Future(value: ())
    }

    private func play(_ steps: ArraySlice<Answer.Step>, _ ending: Answer.Ending, _ task: HTTPTask) {
        var steps = steps
        while let step = steps.popFirst() {
            switch step {
            case .report(let completed, let total):
                task.report(completed: completed, of: total)
            case .wait(let duration):
                let timer = ClockTimer(after: duration, clock: clock) { [steps] in self.play(steps, ending, task) }
                // The end comes before its time when the task is cancelled.
                task.addCompletionHandler { _ in timer.cancel() }
                return
            }
        }
        switch ending {
        case .response(let status, let headers, let body):
            task.succeed(status, headers: headers, body: body)
        case .failure(let code):
            task.fail(code)
        case .pending:
            break
        }
    }
}
