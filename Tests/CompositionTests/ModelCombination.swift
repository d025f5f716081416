import DeferredCore
import DeferredTask

// The combining operators of the model.

/// The model of `zip` and `allFilled`.
final class ModelGathering: @unchecked Sendable {
    let output = ModelFuture()
    private var values: [Value?]
    private var missing: Int
    private let counts: Counts

    init(_ inputs: [ModelFuture], _ counts: Counts) {
        self.counts = counts
        values = inputs.map(\.value)
        missing = inputs.count { $0.value == nil }
        for (index, input) in inputs.enumerated() where input.value == nil { input.add(Input(self, index)) }
        if missing == 0 { output.fill(combine(values.compactMap { $0 }, counts)) }
    }

    private final class Input: ModelHandler, @unchecked Sendable {
        private var gathering: ModelGathering?
        private let index: Int
        override var isPermanent: Bool { true }

        init(_ gathering: ModelGathering, _ index: Int) {
            self.gathering = gathering
            self.index = index
        }

        override func receive(_ value: Value, _ work: ModelWork) {
            guard let gathering = gathering.take() else { return }
            gathering.values[index] = value
            gathering.missing -= 1
            guard gathering.missing == 0, gathering.output.claim() else { return }
            gathering.output.fulfil(combine(gathering.values.compactMap { $0 }, gathering.counts), work)
        }

        override func dismiss() { gathering.take()?.output.orphan() }
    }
}

/// The model of `firstFilled`.
final class ModelContest: @unchecked Sendable {
    let output = ModelFuture()
    private var candidates: [Candidate] = []

    init(_ inputs: [ModelFuture]) {
        for input in inputs {
            if let value = input.value {
                win(value, ModelWork())
                break
            }
            let candidate = Candidate(self)
            candidates.append(candidate)
            input.add(candidate)
        }
    }

    private func win(_ value: Value, _ work: ModelWork) {
        guard output.claim() else { return }
        for candidate in candidates { candidate.cancel() }
        candidates = []
        output.fulfil(value, work)
    }

    private final class Candidate: ModelHandler, @unchecked Sendable {
        private var contest: ModelContest?

        init(_ contest: ModelContest) { self.contest = contest }

        override func receive(_ value: Value, _ work: ModelWork) {
            guard take(), let contest = contest.take() else { return }
            contest.win(value, work)
        }

        override func dismiss() { contest = nil }
    }
}

/// A task whose result depends on others. Ending it cancels the other tasks, and the handlers that wait for them.
final class ModelCombination: @unchecked Sendable {
    private let output = ModelFuture()
    private let children = ModelChildren()
    private var timer: ModelTimer?

    func task(endsAtOnce: Bool = false) -> ModelTask {
        // The handlers that wait for the children retain this. When all are lost, only a cancellation can end the task.
        return ModelTask(root: output, children: children) { [weak self, weak output, children] in
            if let self {
                if endsAtOnce { end(.failure(CancellationError())) }
            } else {
                for child in children.cancel() { child.cancel() }
                output?.fill(.failure(CancellationError()))
            }
        }
    }

    var isEnded: Bool { output.value != nil }

    func add(_ task: ModelTask, _ body: @escaping @Sendable (Value) -> Void) {
        let key = children.started(task.control)
        let handler = ModelUpon { [children] result in
            children.ended(key)
            body(result)
        }
        task.future.add(handler)
        children.wait(key, handler)
    }

    func keep(_ timer: ModelTimer) {
        self.timer = timer
        if isEnded { timer.isCancelled = true }
    }

    func end(_ value: Value) {
        guard output.claim() else { return }
        timer?.isCancelled = true
        children.end(cancelling: true)
        output.fulfil(value)
    }
}

/// Gathers the values of several tasks until it has all of them.
final class ModelValues: @unchecked Sendable {
    private var values: [Value?]

    init(_ count: Int) { values = Array(repeating: nil, count: count) }

    func put(_ value: Value, at index: Int) -> [Value]? {
        values[index] = value
        return values.contains { $0 == nil } ? nil : values.compactMap { $0 }
    }
}

final class ModelFanOut: @unchecked Sendable {
    var next = 0
    var running = 0
    var isStarting = false
}
