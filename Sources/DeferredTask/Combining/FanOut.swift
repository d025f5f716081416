internal import DeferredCore

/// A bounded fan-out: starts tasks while there is room.
final class FanOut<Element: Sendable, Success: Sendable>: Sendable {
    private struct State: Sendable {
        /// Those that have not been started, the last first: what was started is not kept.
        var waiting: [Element]
        var started = 0
        var running = 0
        /// Whether some thread is in `run`; others leave the work to it, so that tasks that end at once make no recursion.
        var isStarting = false
    }

    let combination: Combination<[Success]>
    private let limit: Int
    private let start: @Sendable (Element) throws -> Task<Success>
    private let values: Gathered<Success>
    private let state: Lock<State>

    init(_ elements: [Element], limit: Int, _ start: @escaping @Sendable (Element) throws -> Task<Success>) {
        state = Lock(State(waiting: elements.reversed()))
        self.limit = limit
        self.start = start
        combination = Combination(expected: elements.count)
        values = Gathered(count: elements.count)
    }

    /// Starts what there is room for.
    func run() {
        guard beginStarting() else { return }
        // What is started may itself fan out, and so on.
        if Trampoline.nest(startWaiting) == nil { Trampoline.putOff(startWaiting) }
    }

    private func startWaiting() {
        while let (index, element) = nextToStart() {
            do {
                combination.add(try start(element)) { self.ended(index, $0) }
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

    private func nextToStart() -> (index: Int, element: Element)? {
        let isEnded = combination.isEnded
        return state.withLock { state in
            guard !isEnded, state.running < limit, let element = state.waiting.popLast() else {
                state.isStarting = false
                return nil
            }
            defer { state.started += 1 }
            state.running += 1
            return (state.started, element)
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
