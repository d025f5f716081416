public import DeferredCore

/// Spares a server that fails: after some failures within a time, requests fail at once, until one of them succeeds as a
/// trial. The pattern of that name: Nygard, "Release It!", 2007.
///
/// ```swift
/// let chain = Fallback(to: mirror) --> CircuitBreaker(failures: 5, within: .seconds(10)) --> URLSessionLoader()
/// ```
///
/// - *Closed*, it passes requests on, and counts failures: those to connect or to get a response, time-outs, and statuses of
///   500 and above. Cancellations and other errors say nothing about the server.
/// - *Open*, it fails requests with ``HTTPError/Code/cannotConnect``, so that a ``Fallback`` before it takes over.
/// - *Half-open*, after the pause, it passes one request on as a trial. A success closes it, and a failure opens it for another
///   pause.
///
/// Copies share the circuit. It comes after ``Retry`` to count attempts, and before ``Deadline`` to count its time-outs.
public struct CircuitBreaker: HTTPLink {
    private let circuit: Circuit
    private let stopwatch: Stopwatch

    /// Creates a closed circuit.
    ///
    /// - Parameters:
    ///   - failures: The number of failures that opens it; at least 1.
    ///   - time: The time within which they happen.
    ///   - pause: The time before a trial.
    ///   - clock: The clock by which both are measured; a manual one in tests.
    public init(
        failures: Int = 5,
        within time: Duration = .seconds(10),
        pause: Duration = .seconds(30),
        clock: any Clock<Duration> = ContinuousClock()
    ) {
        circuit = Circuit(CircuitStateMachine(limit: max(1, failures), time: time, pause: pause))
        stopwatch = Stopwatch(clock)
    }

    /// A Boolean value that indicates whether requests fail at once, or wait for the result of a trial.
    public var isOpen: Bool { circuit.machine.withLock { $0.isOpen } }

    /// Passes the task on if the circuit is closed, or if it is the trial, and fails it otherwise.
    public func load(_ task: HTTPTask, next: any HTTPLoader) {
        if task.failIfCancelled() { return }
        let elapsed = stopwatch.elapsed
        guard let period = circuit.machine.withLock({ $0.arrived(at: elapsed) }) else {
            task.fail(.cannotConnect, reason: "too many requests have failed; the circuit breaker tries again later")
            return
        }
        task.execution.whenEnded { [circuit, stopwatch] result in
            let (isSuccess, elapsed) = (Self.isSuccess(result), stopwatch.elapsed)
            circuit.machine.withLock { $0.ended(period, isSuccess: isSuccess, at: elapsed) }
        }
        task.pass(to: next)
    }

    /// Closes the circuit.
    public func reset() -> Future<Void> {
        circuit.machine.withLock { $0.close() }
        return Future(value: ())
    }

    /// Returns `nil` if the result says nothing about the server.
    private static func isSuccess(_ result: HTTPResult) -> Bool? {
        if case .failure(let error) = result, error.code == .invalidResponse { return false }
        if let response = result.arrived { return response.status.code < 500 }
        guard case .failure(let error) = result else { return nil }
        let codes: [HTTPError.Code] = [.cannotConnect, .connectionLost, .insecureConnection, .timedOut]
        return codes.contains(error.code) ? false : nil
    }

    private final class Circuit: Sendable {
        let machine: Lock<CircuitStateMachine>
        init(_ machine: CircuitStateMachine) { self.machine = Lock(machine) }
    }
}

extension CircuitBreaker: ArrangedLink {
    package var sharedState: AnyObject? { circuit }
}

/// Counts failures, and decides which requests go on. A result counts only in the period in which its request arrived.
struct CircuitStateMachine: Sendable {
    private let (limit, time, pause): (Int, Duration, Duration)
    private var period = 0
    private var failures = Queue<Duration>()
    private var opening: Duration?
    private var isTrying = false

    init(limit: Int, time: Duration, pause: Duration) {
        self.limit = limit
        self.time = time
        self.pause = pause
    }

    var isOpen: Bool { opening != nil }

    /// - Returns: The period of a request that goes on.
    mutating func arrived(at now: Duration) -> Int? {
        guard let opening else { return period }
        if isTrying || now - opening < pause { return nil }
        (isTrying, period) = (true, period + 1)
        return period
    }

    mutating func ended(_ period: Int, isSuccess: Bool?, at now: Duration) {
        guard period == self.period else { return }
        if let opening {
            close()
            if isSuccess != true { self.opening = isSuccess == nil ? opening : now }
        } else if isSuccess == false {
            failures.append(now)
            while let first = failures.first, now - first > time { _ = failures.popFirst() }
            if failures.count < limit { return }
            close()
            opening = now
        }
    }

    mutating func close() { (period, failures, opening, isTrying) = (period + 1, Queue(), nil, false) }
}
