/// Waits until `condition` holds, while other tasks get their turns.
///
/// For what nothing tells of, such as the end of a lifetime. Ends with the test's time limit.
package func eventually(_ condition: () -> Bool) async throws {
    while !condition() {
        try Task.checkCancellation()
        await Task.yield()
    }
}

/// Gives other tasks this many turns: a moment of no certain length, for a cancellation to come at any point.
package func giveWay(_ turns: Int) async {
    for _ in 0..<turns {
        await Task.yield()
    }
}
