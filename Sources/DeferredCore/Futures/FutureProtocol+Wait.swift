public import Dispatch

extension FutureProtocol {
    /// Blocks this thread until the future is filled, or until `deadline`.
    ///
    /// Use it in command-line tools and tests. In asynchronous code, use ``value`` or ``get()``. Never call it on the
    /// thread that has to fill the future.
    ///
    /// - Parameter deadline: The latest time to return; by default, it waits for ever.
    /// - Returns: The value, or `nil` if `deadline` passed first. In that case, no handler stays registered.
    @available(*, noasync, message: "blocks the thread; use 'await value' or 'try await get()'")
    public func wait(until deadline: DispatchTime = .distantFuture) -> Value? {
        if let value = peek() { return value }
        // No other thread can run this thread's postponed work while it is blocked.
        Trampoline.catchUp()
        DeferredDiagnostics.noteBlocking("wait(until:)")
        let isFilled = DispatchSemaphore(value: 0)
        let registration = upon(.immediate) { _ in isFilled.signal() }
        if isFilled.wait(timeout: deadline) == .timedOut { registration.cancel() }
        return peek()
    }
}
