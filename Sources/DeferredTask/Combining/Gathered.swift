internal import DeferredCore

/// Collects the values of several tasks, in their order, until all have arrived.
final class Gathered<Value: Sendable>: Sendable {
    private let state: Lock<(values: [Value?], missing: Int)>

    init(count: Int) {
        state = Lock(([Value?](repeating: nil, count: count), count))
    }

    /// Keeps a value. Returns all of them to the caller that completes them, and `nil` to the others.
    func put(_ value: Value, at index: Int) -> [Value]? {
        state.withLock { state in
            state.values[index] = value
            state.missing -= 1
            return state.missing == 0 ? state.values.compactMap { $0 } : nil
        }
    }
}
