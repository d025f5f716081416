import Foundation
import Testing

/// A row of a table of operations that must leave nothing on the heap once they are over.
///
/// LeakSanitizer finds what nobody refers to. This finds what somebody still does, such as an object in a cycle that a
/// live one can reach, or an entry of a list that is never taken out.
///
/// ```swift
/// private static let operations: [MeteredOperation] = [
///     .init("map") { _ = Task.success(1).map { $0 } },
/// ]
/// ```
package struct MeteredOperation: Sendable {
    package let name: String
    private let run: @Sendable () async throws -> Void

    package init(_ name: String, _ run: @escaping @Sendable () async throws -> Void) {
        self.name = name
        self.run = run
    }

    /// Runs the operation many times, and records an issue if the heap grows by `limit` bytes or more each time.
    ///
    /// Meaningful only in a separate process: call it in an exit test.
    ///
    /// - Parameters:
    ///   - count: The number of operations in a round, unless `METER` in the environment says another.
    ///   - width: The number of operations at a time.
    ///   - limit: More than nothing for an operation over something else that leaks.
    package func expectNothingLeft(count: Int = 1_000, width: Int = 1, below limit: Int = 16) async throws {
        let count = ProcessInfo.processInfo.environment["METER"].flatMap { Int($0) } ?? count
        let growth = try await heapGrowth(count, below: limit) {
            try await withThrowingTaskGroup { group in
                for worker in 0..<width {
                    group.addTask { for _ in 0..<(count + worker) / width { try await run() } }
                }
                try await group.waitForAll()
            }
        }
        if growth >= limit { Issue.record("\(name) leaves \(growth) bytes on the heap") }
    }
}

extension [MeteredOperation] {
    /// Runs the operation called `name`. See ``MeteredOperation/expectNothingLeft(count:width:below:)``.
    package func expectNothingLeft(by name: String, count: Int = 1_000, width: Int = 1) async throws {
        let operation = try #require(first { $0.name == name })
        try await operation.expectNothingLeft(count: count, width: width)
    }
}

/// Returns by how many bytes of the heap each of a round's operations adds to what is in use, on a warm process.
///
/// Compares the heap after the second round with that after the fifth. A growth of `limit` or more is measured again over
/// more rounds: what is really kept shows each time, and a cache that fills up does not.
///
/// Meaningful only in a separate process: call it in an exit test.
///
/// - Parameters:
///   - count: The number of operations in a round.
///   - round: Runs them, and waits for their ends.
package func heapGrowth(_ count: Int, below limit: Int, _ round: () async throws -> Void) async rethrows -> Int {
    keepNoBacktraces()
    for _ in 0..<2 { try await round() }
    var least = Int.max
    for rounds in [3, 6, 12, 24, 48, 192] where least >= limit {
        let before = heapInUse()
        for _ in 0..<rounds { try await round() }
        // The threads of a queue keep what they have freed, and a busy machine needs more of them: that comes once. The
        // smallest object that is kept each time takes 32 bytes.
        let allowance = rounds < 48 ? 0 : min(rounds * count * 8, 2 << 20)
        least = min(least, (heapInUse() - before - allowance) / (rounds * count))
    }
    return least
}
