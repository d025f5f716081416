import DeferredCore
import Foundation

/// Lets a few tests run at a time, in order of arrival within each kind.
///
/// Without a limit, all tests of a run would start together, and each would take as long as all of them.
final class Turns: Sendable {
    /// The kinds of turns, in the order in which they are given.
    enum Kind: Int {
        /// The rest of a serialized suite waits for this test. Such suites wait for servers most of the time, so that
        /// they get only half of the places, and others use the processors meanwhile.
        case serialized
        case normal
        /// Nothing else may run. It is the last, since it would leave processors idle until all others have ended.
        case alone
    }

    static let shared = Turns(2 * ProcessInfo.processInfo.activeProcessorCount)

    private struct Waiter {
        let kind: Kind
        let continuation: CheckedContinuation<Void, Never>
    }

    private struct State {
        let places: Int
        var free: Int
        var freeForSerialized: Int
        /// In the order of their kinds.
        var waiting: [Waiter] = []

        init(_ places: Int) {
            (self.places, free, freeForSerialized) = (places, places, places / 2)
        }

        private func need(of kind: Kind) -> Int { kind == .alone ? places : 1 }

        mutating func add(_ waiter: Waiter) {
            let index = waiting.firstIndex { $0.kind.rawValue > waiter.kind.rawValue }
            waiting.insert(waiter, at: index ?? waiting.endIndex)
        }

        /// Removes and returns the waiters whose turn it is.
        mutating func next() -> [Waiter] {
            var admitted: [Waiter] = []
            while let index = waiting.firstIndex(where: { $0.kind != .serialized || freeForSerialized > 0 }),
                free >= need(of: waiting[index].kind)
            {
                let waiter = waiting.remove(at: index)
                free -= need(of: waiter.kind)
                if waiter.kind == .serialized { freeForSerialized -= 1 }
                admitted.append(waiter)
            }
            return admitted
        }

        mutating func end(_ kind: Kind) {
            free += need(of: kind)
            if kind == .serialized { freeForSerialized += 1 }
        }
    }

    private let state: Lock<State>

    /// - Parameter places: How many tests run at a time, at least 2.
    init(_ places: Int) {
        state = Lock(State(places))
    }

    /// The number of tests that wait for their turn.
    var waitingCount: Int { state.withLock { $0.waiting.count } }

    /// Calls `body` when it is its turn.
    func take(_ kind: Kind, _ body: () async throws -> Void) async rethrows {
        await withCheckedContinuation { continuation in
            change { $0.add(Waiter(kind: kind, continuation: continuation)) }
        }
        defer { change { $0.end(kind) } }
        try await body()
    }

    private func change(_ change: (inout State) -> Void) {
        let admitted = state.withLock { state in
            change(&state)
            return state.next()
        }
        for waiter in admitted { waiter.continuation.resume() }
    }
}
