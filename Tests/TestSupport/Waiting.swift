import Foundation

/// Waits until `condition` holds, while other tasks get their turns.
///
/// For conditions without a notification, such as the end of a lifetime. Ends with the test's time limit or, in the
/// process of an exit test, which has none, after two minutes.
package func eventually(_ condition: () -> Bool) async throws {
    let start = ContinuousClock.now
    var rounds = 0
    while !condition() {
        try Task.checkCancellation()
        guard ContinuousClock.now - start < .seconds(120) else { throw NeverHappened() }
        rounds += 1
        // Leaves the processor to the code that the condition depends on.
        if rounds < 100 { await Task.yield() } else { try await Task.sleep(for: .milliseconds(1)) }
    }
}

/// The error of ``eventually(_:)`` when its time is up.
package struct NeverHappened: Error {}

/// Yields to other tasks for a moment of random length, short and long ones equally likely, so that a cancellation can
/// come at any point.
package func giveWay(using random: inout some RandomNumberGenerator) async {
    await giveWay(turns: 1 << Int.random(in: 0..<12, using: &random)) { true }
}

/// Yields to other tasks `turns` times, or fewer if `condition` ceases to hold.
///
/// For the tasks of Swift's concurrency pool, which share threads; not for the thread of a test.
package func giveWay(turns: Int, while condition: @Sendable () -> Bool) async {
    await withTaskExecutorPreference(globalConcurrentExecutor) { @concurrent in
        for _ in 0..<turns where condition() { await Task.yield() }
    }
}

/// Calls a closure until it returns true, on the thread of a test that isn't asynchronous. Other threads get their turns.
///
/// - Returns: False if that takes longer than `patience`.
package func settles(within patience: Duration, _ condition: () -> Bool) -> Bool {
    let end = ContinuousClock.now + patience
    while !condition() {
        if ContinuousClock.now > end { return false }
        sched_yield()
    }
    return true
}
