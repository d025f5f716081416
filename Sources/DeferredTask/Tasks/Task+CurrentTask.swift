/// Operations on the current Swift task, as in Swift.
extension Task where Success == Never {
    /// Suspends the current Swift task for `duration`. See Swift's `Task.sleep(for:tolerance:clock:)`.
    public static func sleep<C: Clock>(
        for duration: C.Instant.Duration,
        tolerance: C.Instant.Duration? = nil,
        clock: C = .continuous
    ) async throws {
        try await _Concurrency.Task<Never, Never>.sleep(for: duration, tolerance: tolerance, clock: clock)
    }

    /// Suspends the current Swift task until `deadline`. See Swift's `Task.sleep(until:tolerance:clock:)`.
    public static func sleep<C: Clock>(
        until deadline: C.Instant,
        tolerance: C.Instant.Duration? = nil,
        clock: C = .continuous
    ) async throws {
        try await _Concurrency.Task<Never, Never>.sleep(until: deadline, tolerance: tolerance, clock: clock)
    }

    /// Suspends the current Swift task for `duration` nanoseconds. See Swift's `Task.sleep(nanoseconds:)`.
    public static func sleep(nanoseconds duration: UInt64) async throws {
        try await _Concurrency.Task<Never, Never>.sleep(nanoseconds: duration)
    }

    /// Suspends the current Swift task for `duration` nanoseconds, also if it is cancelled. See Swift's `Task.sleep(_:)`.
    @available(*, deprecated, renamed: "Task.sleep(nanoseconds:)")
    public static func sleep(_ duration: UInt64) async {
        await _Concurrency.Task<Never, Never>.sleep(duration)
    }

    /// A Boolean value that indicates whether the current Swift task was cancelled. See Swift's `Task.isCancelled`.
    public static var isCancelled: Bool { _Concurrency.Task<Never, Never>.isCancelled }

    /// Throws `CancellationError` if the current Swift task was cancelled. See Swift's `Task.checkCancellation()`.
    public static func checkCancellation() throws { try _Concurrency.Task<Never, Never>.checkCancellation() }

    /// Lets other Swift tasks run. See Swift's `Task.yield()`.
    public static func yield() async { await _Concurrency.Task<Never, Never>.yield() }

    /// Lets other Swift tasks run. See Swift's `Task.suspend()`.
    @available(*, deprecated, renamed: "yield()")
    public static func suspend() async { await yield() }

    /// The priority of the current Swift task. See Swift's `Task.currentPriority`.
    public static var currentPriority: TaskPriority { _Concurrency.Task<Never, Never>.currentPriority }

    /// The priority with which the current Swift task was created, or `nil` outside of a task. See Swift's
    /// `Task.basePriority`.
    public static var basePriority: TaskPriority? { _Concurrency.Task<Never, Never>.basePriority }

    /// The name of the current Swift task, if it has one. See Swift's `Task.name`.
    @available(macOS 26, iOS 26, tvOS 26, watchOS 26, visionOS 26, *)
    public static var name: String? { _Concurrency.Task<Never, Never>.name }
}
