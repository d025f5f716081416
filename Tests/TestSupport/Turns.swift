import DeferredCore
import Foundation

/// Lets a few tests run at a time, in order of arrival.
///
/// Without a limit, all tests of a run would start together, and each would take as long as all of them.
final class Turns: Sendable {
    static let shared = Turns(2 * ProcessInfo.processInfo.activeProcessorCount)

    private struct Waiter {
        let places: Int
        let isPreferred: Bool
        let continuation: CheckedContinuation<Void, Never>
    }

    private struct State {
        var free: Int
        var waiting: [Waiter] = []

        /// Removes and returns the waiters whose turn it is.
        mutating func next() -> [Waiter] {
            var admitted: [Waiter] = []
            while let first = waiting.first, first.places <= free {
                free -= first.places
                admitted.append(waiting.removeFirst())
            }
            return admitted
        }
    }

    private let places: Int
    private let state: Lock<State>

    init(_ places: Int) {
        self.places = places
        state = Lock(State(free: places))
    }

    /// Calls `body` when it is its turn.
    ///
    /// - Parameters:
    ///   - isAlone: True if nothing else may run meanwhile.
    ///   - isPreferred: True to go before others that are not preferred: for serialized tests, each of which waits for
    ///     the one before.
    func take(isAlone: Bool, isPreferred: Bool, _ body: () async throws -> Void) async rethrows {
        let places = isAlone ? self.places : 1
        await withCheckedContinuation { continuation in
            let admitted = state.withLock { state in
                let waiter = Waiter(places: places, isPreferred: isPreferred, continuation: continuation)
                let index = isPreferred ? state.waiting.firstIndex { !$0.isPreferred } : nil
                state.waiting.insert(waiter, at: index ?? state.waiting.endIndex)
                return state.next()
            }
            for waiter in admitted { waiter.continuation.resume() }
        }
        defer {
            let admitted = state.withLock { state in
                state.free += places
                return state.next()
            }
            for waiter in admitted { waiter.continuation.resume() }
        }
        try await body()
    }
}
