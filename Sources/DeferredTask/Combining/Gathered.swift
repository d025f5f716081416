internal import DeferredCore

/// Combines several tasks, each of which either brings a part of the result, or decides it at once.
final class Gathered<Part: Sendable, Output: Sendable>: Sendable {
    enum Step {
        case part(Part)
        case end(Task<Output>.Result)
    }

    private let combination: Combination<Output>
    private let state: Lock<(parts: [Part?], missing: Int)>
    private let whole: @Sendable ([Part]) -> Task<Output>.Result

    /// - Parameters:
    ///   - count: The number of tasks.
    ///   - whole: Returns the result of all parts, in the order of the tasks.
    init(count: Int, _ whole: @escaping @Sendable ([Part]) -> Task<Output>.Result) {
        combination = Combination(expected: count)
        state = Lock(([Part?](repeating: nil, count: count), count))
        self.whole = whole
    }

    /// Creates the combined task, before any is added.
    func task() -> Task<Output> {
        state.withLock { $0.missing } == 0 ? Task(FutureStorage(filledWith: whole([])), nil) : combination.task()
    }

    func add<Input>(
        _ task: Task<Input>,
        at index: Int,
        _ step: @escaping @Sendable (Task<Input>.Result) -> Step
    ) {
        combination.add(task) { [self] result in
            switch step(result) {
            case .part(let part): if let parts = put(part, at: index) { combination.end(with: whole(parts)) }
            case .end(let result): combination.end(with: result)
            }
        }
    }

    /// Keeps a part. Returns all of them to the caller that completes them, and `nil` to the others.
    private func put(_ part: Part, at index: Int) -> [Part]? {
        state.withLock { state in
            state.parts[index] = part
            state.missing -= 1
            return state.missing == 0 ? state.parts.compactMap { $0 } : nil
        }
    }
}
