internal import DeferredCore

/// A bounded fan-out: starts tasks while fewer than the limit are running.
final class FanOut<Success: Sendable>: Sendable {
    /// Starts the task of the next element; returns `nil` at the end.
    private typealias Source = @Sendable () throws -> Task<Success>?

    private struct State: Sendable {
        /// Released with the last element: the closure may refer to the producers of the tasks it started, which keep
        /// this fan-out.
        var source: Source?
        /// The values of the tasks that were started.
        var values: [Success?] = []
        var running = 0
        /// True while a thread is in `run`; others leave the work to it, so that tasks that end at once don't recurse.
        var isStarting = false

        /// The values, if all elements have one.
        var all: [Success]? { source == nil && running == 0 ? values.compactMap { $0 } : nil }
    }

    let combination: Combination<[Success]>
    private let limit: Int
    /// The number of elements, if it is known.
    private let count: Int?
    private let locals: TaskLocals? = TaskLocals(ofRunningCode: ())
    private let state: Lock<State>

    init<Elements: Sequence & Sendable>(
        _ elements: Elements,
        limit: Int,
        _ start: @escaping @Sendable (Elements.Element) throws -> Task<Success>
    ) {
        let (count, isExact) = Self.count(elements)
        self.count = isExact ? count : nil
        let combination = Combination<[Success]>(expected: isExact ? count : max(count, 1), isOpenEnded: !isExact)
        self.combination = combination
        // SAFETY: made from a Sendable sequence, and used by the one thread that is starting tasks.
        nonisolated(unsafe) var iterator = elements.makeIterator()
        let source: Source = {
            guard let element = iterator.next(), !combination.isEnded else { return nil }
            return try start(element)
        }
        state = Lock(State(source: source))
        self.limit = limit
    }

    /// The number of elements, or a part of it where counting could take long, or overflow, as for `0...Int.max`. The
    /// underestimated count of a stride visits all of its elements.
    private static func count<Elements: Sequence>(_ elements: Elements) -> (count: Int, isExact: Bool) {
        if let array = elements as? [Elements.Element] { return (array.count, true) }
        return (elements as? any Collection)?.count(upTo: 1 << 16) ?? (1, false)
    }

    /// Starts tasks up to the limit, with the task-locals of the beginning.
    ///
    /// - Parameter isFirst: Whether the running code has these.
    func run(isFirst: Bool = false) {
        let isStarting = state.withLock { state in
            defer { state.isStarting = true }
            return state.isStarting
        }
        if isStarting { return }
        // A task that is started may itself fan out, and so on.
        if isFirst, Trampoline.nest(startWaiting) != nil { return }
        Trampoline.perform { self.locals.restore(self.startWaiting) }
    }

    private func startWaiting() {
        while let (source, index) = addPlace() {
            do {
                // Outside of the lock, since it is the caller's code.
                guard let task = try source() else { return endOfElements() }
                combination.add(task) { self.ended(index, $0) }
            } catch {
                combination.end(with: .failure(error))
            }
        }
    }

    /// Adds a place for another task, if there is room; otherwise, this thread no longer starts tasks.
    private func addPlace() -> (source: Source, index: Int)? {
        let isEnded = combination.isEnded
        return state.withLock { state in
            guard !isEnded, state.running < limit, let source = state.source else {
                state.isStarting = false
                return nil
            }
            state.running += 1
            state.values.append(nil)
            // The caller still keeps it.
            if state.values.count == count { state.source = nil }
            return (source, state.values.count - 1)
        }
    }

    /// Removes the place that was added last, for which there is no element.
    private func endOfElements() {
        let all = state.withLock { state in
            state.isStarting = false
            state.running -= 1
            state.values.removeLast()
            // The caller still keeps it.
            state.source = nil
            return state.all
        }
        if let all { combination.end(with: .success(all)) }
    }

    private func ended(_ index: Int, _ result: Task<Success>.Result) {
        switch result {
        case .failure(let error):
            combination.end(with: .failure(error))
        case .success(let value):
            let all = state.withLock { state in
                state.values[index] = value
                state.running -= 1
                return state.all
            }
            if let all { combination.end(with: .success(all)) } else { run() }
        }
    }
}

extension Collection {
    fileprivate func count(upTo limit: Int) -> (count: Int, isExact: Bool) {
        var (index, count) = (startIndex, 0)
        while count < limit, index != endIndex {
            formIndex(after: &index)
            count += 1
        }
        return (count, index == endIndex)
    }
}
