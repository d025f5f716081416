import Deferred

/// Counts the bytes of one file, from any thread.
final class ByteCounter: Sendable {
    struct Count: Equatable {
        /// Bytes of the file that are here, those from earlier runs included.
        var received: Int64 = 0

        /// Bytes of the whole file, when the server has told it.
        var expected: Int64?

        /// Bytes that came over the network in this run. Never goes back, also when the file starts over.
        var fetched: Int64 = 0
    }

    private struct State {
        var count = Count()
        var isFirstReport = true
    }

    private let state = Lock(State())

    var count: Count { state.withLock { $0.count } }

    /// What the next report counts was not fetched by this attempt.
    func beginAttempt() {
        state.withLock { $0.isFirstReport = true }
    }

    func report(received: Int64, expected: Int64?) {
        state.withLock { state in
            if !state.isFirstReport {
                state.count.fetched += max(0, received - state.count.received)
            }
            state.isFirstReport = false
            state.count.received = received
            state.count.expected = expected
        }
    }
}
