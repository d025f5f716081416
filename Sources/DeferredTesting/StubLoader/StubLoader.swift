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
/// The answers are given in order, or to the requests that each is for:
///
/// ```swift
/// let stub = StubLoader(expecting: .get("/users", .json("[]")), .post("/users", .response(201)))
/// ```
///
/// **Thread safety:** all members can be used from any thread; answers without a delay are given before `load` returns.
/// **Cancelling** completes a task at once with `.cancelled`, unless the answer ignores that. **Lifetime:** the stub
/// keeps the tasks that it has not answered, and all requests.
public final class StubLoader: HTTPLoader {
    private struct State: Sendable {
        var requests: [HTTPRequest] = []
        var unexpected: [HTTPRequest] = []
        /// The tasks that have not completed, by the order in which they arrived.
        var inFlight: [Int: HTTPTask] = [:]
        var resetCount = 0
    }

    private let state = Lock(State())
    private let clock: any Clock<Duration>
    private let answer: @Sendable (_ number: Int, HTTPRequest) throws(UnexpectedRequest) -> Answer

    /// Creates a stub that gives its answers in order, and repeats the last one.
    ///
    /// - Parameters:
    ///   - answers: The answers. Without any, every request stays pending.
    ///   - clock: The clock by which delays are measured.
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
        self.answer = { _, request in answer(request) }
    }

    /// Creates a stub that answers each request from the first expectation that matches it.
    ///
    /// A request without a match fails with ``DeferredHTTP/HTTPError/Code-swift.enum/unknown`` and
    /// ``UnexpectedRequest`` as the cause, which shows the request and the expectations. See also
    /// ``unexpectedRequests``.
    ///
    /// - Parameters:
    ///   - first: An expectation. It gives its answers in order, and repeats the last one.
    ///   - others: Further expectations.
    ///   - clock: The clock by which delays are measured.
    public convenience init(
        expecting first: Expectation,
        _ others: Expectation...,
        clock: any Clock<Duration> = ContinuousClock()
    ) {
        self.init([first] + others, clock: clock)
    }

    init(_ expectations: [Expectation], clock: any Clock<Duration>) {
        self.clock = clock
        let script = ExpectationScript(expectations)
        answer = { _, request throws(UnexpectedRequest) in try script.answer(to: request) }
    }

    /// All requests that have arrived, in order.
    public var requests: [HTTPRequest] { state.withLock { $0.requests } }

    /// The requests that no expectation matched, in order. A test can require at its end that there are none.
    public var unexpectedRequests: [HTTPRequest] { state.withLock { $0.unexpected } }

    /// The tasks that have not completed, in order of arrival. A test can complete them by hand.
    ///
    /// - Complexity: O(*n* log *n*).
    public var tasksInFlight: [HTTPTask] {
        state.withLock { $0.inFlight }.sorted { $0.key < $1.key }.map(\.value)
    }

    /// The number of times that the stub was reset.
    public var resetCount: Int { state.withLock { $0.resetCount } }

    /// Records the request and answers it, unless its task is already cancelled.
    public func load(_ task: HTTPTask) {
        if task.failIfCancelled() { return }
        let request = task.request
        // Both at once: a test that has waited for the request may take the task.
        let number = state.withLock { state in
            let number = state.requests.count
            state.requests.append(request)
            state.inFlight[number] = task
            return number
        }
        task.addCompletionHandler { [weak self] _ in
            // The last reference to the task must not be released under the lock.
            let task = self?.state.withLock { $0.inFlight.removeValue(forKey: number) }
            withExtendedLifetime(task) {}
        }
        let answer: Answer
        do {
            answer = try self.answer(number, request)
        } catch {
            state.withLock { $0.unexpected.append(request) }
            task.fail(.unknown, underlying: error)
            return
        }
        if answer.heedsCancellation {
            task.addCancellationHandler { [weak task] in task?.fail(.cancelled) }
        }
        play(answer.steps[...], answer.ending, task)
    }

    /// Counts this call in ``resetCount``, and ends at once.
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
                // A task that is cancelled completes before the timer fires.
                task.addCompletionHandler { _ in timer.cancel() }
                return
            }
        }
        switch ending {
        case .response(let status, let headers, let body):
            task.complete(with: body.result(status, headers, of: task.request))
        case .failure(let code, let underlying):
            task.fail(code, underlying: underlying)
        case .pending:
            break
        }
    }
}
