internal import DeferredCore

/// A bounded fan-out: starts tasks while there is room.
final class FanOut<Element: Sendable, Success: Sendable>: Sendable {
    private struct State: Sendable {
        var next = 0
        var running = 0
        /// Whether some thread is in `run`; others leave the work to it, so that tasks that end at once make no recursion.
        var isStarting = false
    }

    let combination: Combination<[Success]>
    private let elements: [Element]
    private let limit: Int
    private let start: @Sendable (Element) throws -> Task<Success>
    private let values: Gathered<Success>
    private let state = Lock(State())

    init(_ elements: [Element], limit: Int, _ start: @escaping @Sendable (Element) throws -> Task<Success>) {
        self.elements = elements
        self.limit = limit
        self.start = start
        combination = Combination(expected: elements.count)
        values = Gathered(count: elements.count)
    }

    /// Starts what there is room for.
    func run() {
        guard beginStarting() else { return }
        while let index = nextToStart() {
            do {
                combination.add(try start(elements[index])) { self.ended(index, $0) }
            } catch {
                combination.end(with: .failure(error))
            }
        }
    }

    private func beginStarting() -> Bool {
        state.withLock { state in
            defer { state.isStarting = true }
            return !state.isStarting
        }
    }

    private func nextToStart() -> Int? {
        let isEnded = combination.isEnded
        return state.withLock { state in
            guard !isEnded, state.next < elements.count, state.running < limit else {
                state.isStarting = false
                return nil
            }
            defer { state.next += 1 }
            state.running += 1
            return state.next
        }
    }

    private func ended(_ index: Int, _ result: Task<Success>.Result) {
        switch result {
        case .failure(let error):
            combination.end(with: .failure(error))
        case .success(let value):
            state.withLock { $0.running -= 1 }
            if let all = values.put(value, at: index) { combination.end(with: .success(all)) } else { run() }
        }
    }
}
