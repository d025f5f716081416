internal import DeferredCore

/// A bounded fan-out: starts tasks while fewer than the limit are running.
final class FanOut<Element: Sendable, Success: Sendable>: Sendable {
    typealias Start = @Sendable (Element) throws -> Task<Success>

    private struct State: Sendable {
        /// The elements whose tasks have not been started, in reverse order: elements already started are not kept.
        var waiting: [Element]
        /// Released with the last element: the closure may refer to the producers of the tasks it started, which keep
        /// this fan-out.
        var start: Start?
        var started = 0
        var running = 0
        /// True while a thread is in `run`; others leave the work to it, so that tasks that end at once don't recurse.
        var isStarting = false
    }

    let combination: Combination<[Success]>
    private let limit: Int
    private let values: Gathered<Success>
    private let state: Lock<State>

    init(_ elements: [Element], limit: Int, _ start: @escaping Start) {
        state = Lock(State(waiting: elements.reversed(), start: start))
        self.limit = limit
        combination = Combination(expected: elements.count)
        values = Gathered(count: elements.count)
    }

    /// Starts tasks up to the limit.
    func run() {
        guard beginStarting() else { return }
        // A task that is started may itself fan out, and so on.
        if Trampoline.nest(startWaiting) == nil { Trampoline.putOff(startWaiting) }
    }

    private func startWaiting() {
        while let (index, element, start) = nextToStart() {
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

    private func nextToStart() -> (index: Int, element: Element, start: Start)? {
        let isEnded = combination.isEnded
        return state.withLock { state in
            guard !isEnded, state.running < limit, let start = state.start, let element = state.waiting.popLast() else {
                state.isStarting = false
                return nil
            }
            defer { state.started += 1 }
            state.running += 1
            if state.waiting.isEmpty { state.start = nil }
            return (state.started, element, start)
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
