/// Waits until `condition` holds, while other tasks get their turns.
///
/// For what nothing tells of, such as the end of a lifetime. Ends with the test's time limit.
package func eventually(_ condition: () -> Bool) async throws {
    while !condition() {
        try Task.checkCancellation()
        await Task.yield()
    }
}

/// Gives other tasks some turns: a moment of random length, the short ones as likely as the long, for a cancellation to
/// come at any point.
package func giveWay(using random: inout some RandomNumberGenerator) async {
    for _ in 0..<(1 << Int.random(in: 0..<12, using: &random)) {
        await Task.yield()
    }
}
