internal import DeferredCore

/// A value for each of several tasks, in their order, until all are there.
final class Gathered<Value: Sendable>: Sendable {
    private let state: Lock<(values: [Value?], missing: Int)>

    init(count: Int) {
        state = Lock(([Value?](repeating: nil, count: count), count))
    }

    /// Keeps a value. Returns all of them for the one that completes them.
    func put(_ value: Value, at index: Int) -> [Value]? {
        state.withLock { state in
            state.values[index] = value
            state.missing -= 1
            return state.missing == 0 ? state.values.compactMap { $0 } : nil
        }
    }
}
