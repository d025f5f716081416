/// Waits until `condition` holds, while other tasks get their turns.
///
/// For what nothing tells of, such as the end of a lifetime. Ends with the test's time limit, and in the process of an
/// exit test, which has none, after two minutes.
package func eventually(_ condition: () -> Bool) async throws {
    let start = ContinuousClock.now
    var rounds = 0
    while !condition() {
        try Task.checkCancellation()
        guard ContinuousClock.now - start < .seconds(120) else { throw NeverHappened() }
        rounds += 1
        // Leaves the processor to what it waits for.
        if rounds < 100 { await Task.yield() } else { try await Task.sleep(for: .milliseconds(1)) }
    }
}

/// The error of ``eventually(_:)`` when it has waited long enough.
package struct NeverHappened: Error {}

/// Gives other tasks some turns: a moment of random length, the short ones as likely as the long, for a cancellation to
/// come at any point.
package func giveWay(using random: inout some RandomNumberGenerator) async {
    await giveWay(turns: 1 << Int.random(in: 0..<12, using: &random)) { true }
}

/// Gives other tasks so many turns, or fewer if `condition` ceases to hold.
///
/// Among the tasks of Swift's concurrency pool, where turns are to be had, not on the thread of a test.
package func giveWay(turns: Int, while condition: @Sendable () -> Bool) async {
    await withTaskExecutorPreference(globalConcurrentExecutor) { @concurrent in
        for _ in 0..<turns where condition() { await Task.yield() }
    }
}
