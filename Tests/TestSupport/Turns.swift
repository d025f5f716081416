import DeferredCore
import Foundation

/// Lets a few tests run at a time, in the order in which they come.
///
/// Without a bound, all tests of a run start together, and each takes as long as all of them.
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

        /// Those whose turn it is.
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
    ///   - isAlone: Whether nobody else may run meanwhile.
    ///   - isPreferred: Whether it goes before those who are not: for tests of which each waits for the one before.
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
