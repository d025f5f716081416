import DeferredCore
import DeferredTask

// The model: the library's contract written down as simply as possible, for one thread. A future is a value and an
// ordered list of handlers. What a future's value causes is done from a list of work, future after future.

/// What waits for a future.
///
/// SAFETY: everything in the model is used by one thread.
class ModelHandler: @unchecked Sendable {
    enum Place { case waiting, submitted, done, cancelled }

    var place = Place.waiting
    weak var owner: ModelFuture?

    /// Wins the right to run.
    func take() -> Bool {
        guard place == .waiting || place == .submitted else { return false }
        place = .done
        return true
    }

    func cancel() {
        guard place == .waiting || place == .submitted else { return }
        if place == .waiting { owner?.handlers.removeAll { $0 === self } }
        place = .cancelled
        dismiss()
    }

    func receive(_ value: Value, _ work: ModelWork) { preconditionFailure() }

    /// Frees what was captured.
    func dismiss() {}

    /// What this waits for goes unfilled.
    final func goUnfilled() {
        if take() { dismiss() }
        lost()
    }

    fileprivate func lost() {}

    /// Whether nobody can take it back.
    var isPermanent: Bool { false }
}

final class ModelFuture: @unchecked Sendable {
    var value: Value?
    var isClaimed = false
    var handlers: [ModelHandler] = []
    /// What is told of the end, before handlers run.
    var state: ModelState?
    /// How many references users have.
    var handles = 0
    /// Whether nobody can fill it any more. Then it keeps no handlers.
    private var isOrphaned = false

    init(_ value: Value? = nil) {
        self.value = value
        isClaimed = value != nil
    }

    deinit {
        for handler in handlers { handler.goUnfilled() }
    }

    func orphan() {
        isOrphaned = true
        let lost = handlers
        handlers = []
        for handler in lost { handler.goUnfilled() }
    }

    func claim() -> Bool {
        defer { isClaimed = true }
        return !isClaimed
    }

    @discardableResult
    func fill(_ value: Value) -> Bool {
        guard claim() else { return false }
        fulfil(value)
        return true
    }

    func fulfil(_ value: Value) {
        let work = ModelWork()
        fulfil(value, work)
        work.run()
    }

    func fulfil(_ value: Value, _ work: ModelWork) {
        self.value = value
        let waiting = handlers
        handlers = []
        state?.end()
        if !waiting.isEmpty { work.futures.append((value, waiting)) }
    }

    /// Adds a handler, or lets it have the value.
    func add(_ handler: ModelHandler) {
        if let value {
            let work = ModelWork()
            handler.receive(value, work)
            work.run()
        } else if isOrphaned {
            handler.goUnfilled()
        } else {
            handler.owner = self
            handlers.append(handler)
        }
    }
}

/// Futures that have been filled, with the handlers that are to run.
final class ModelWork {
    var futures: [(value: Value, handlers: [ModelHandler])] = []

    func run() {
        while !futures.isEmpty {
            let (value, handlers) = futures.removeFirst()
            for handler in handlers { handler.receive(value, self) }
        }
    }
}

/// A handler of a user.
final class ModelUpon: ModelHandler, @unchecked Sendable {
    private let executor: any Executor
    private var body: (@Sendable (Value) -> Void)?

    init(_ executor: any Executor = .immediate, _ body: @escaping @Sendable (Value) -> Void) {
        self.executor = executor
        self.body = body
    }

    override func receive(_ value: Value, _ work: ModelWork) {
        guard !(executor is ImmediateExecutor) else { return run(value) }
        guard place == .waiting else { return }
        place = .submitted
        executor.submit { self.run(value) }
    }

    private func run(_ value: Value) {
        guard take(), let body = body.take() else { return }
        body(value)
    }

    override func dismiss() { body = nil }
}

/// An operator with a closure.
final class ModelStage: ModelHandler, @unchecked Sendable {
    typealias Body = @Sendable (Value) -> ModelOutcome

    private(set) weak var output: ModelFuture?
    /// The same, as long as there is something to wait for. Afterwards only those keep it who can look at it, and with it
    /// goes whatever waits for it, though somebody may still be there who could cancel.
    private var kept: ModelFuture?
    /// Whether this is an operator of `Task`: what it is to call can be taken from it until its closure begins.
    private let isTask: Bool
    /// Whether a cancellation ends it, unless its closure has begun.
    private let endsWhenCancelled: Bool
    private let executor: any Executor
    /// What needs no closure.
    private let shortcut: (Value) -> Bool
    private var body: Body?
    /// Whether the future that this waited for is just handing it to the executor, and so holds it.
    private var isHeld = false
    /// Whether the closure will never be called.
    private var isLost = false

    init(
        _ output: ModelFuture,
        isTask: Bool,
        endsWhenCancelled: Bool = true,
        _ executor: any Executor,
        shortcut: @escaping (Value) -> Bool,
        _ body: @escaping Body
    ) {
        (self.output, kept) = (output, output)
        self.isTask = isTask
        self.endsWhenCancelled = isTask && endsWhenCancelled
        self.executor = executor
        self.shortcut = shortcut
        self.body = body
    }

    override func receive(_ value: Value, _ work: ModelWork) {
        if executor is ImmediateExecutor { return apply(value, work) }
        if shortcut(value) {
            guard take() else { return }
            dismiss()
            if let output, output.claim() { output.fulfil(value, work) }
            return
        }
        guard place == .waiting else { return }
        place = .submitted
        let turn = Turn(self)
        isHeld = true
        defer { isHeld = false }
        executor.submit {
            guard let stage = turn.begin() else { return }
            let work = ModelWork()
            stage.apply(value, work)
            work.run()
        }
    }

    /// A turn on an executor, which may run it twice, or drop it.
    private final class Turn: @unchecked Sendable {
        private var stage: ModelStage?

        init(_ stage: ModelStage) { self.stage = stage }

        func begin() -> ModelStage? { stage.take() }

        deinit { if let stage, stage.place == .submitted { stage.goUnfilled() } }
    }

    private func apply(_ value: Value, _ work: ModelWork) {
        guard take(), let body = body.take(), let output, output.claim() else { return }
        let outcome = shortcut(value) ? .value(value) : body(value)
        switch outcome {
        case .value(let value): output.fulfil(value, work)
        case .future(let inner):
            if let value = inner.value {
                output.fulfil(value, work)
            } else if !isHeld, output.handles == 0, output.handlers.allSatisfy(\.isPermanent) {
                // Nobody can see the stage any more: what waits for it waits for the inner future instead.
                for handler in output.handlers { inner.add(handler) }
                output.handlers = []
            } else {
                inner.add(ModelAdoption(output))
            }
        }
    }

    override func dismiss() { body = nil }

    // A task can still be cancelled.
    override fileprivate func lost() {
        if !isTask { output?.orphan() }
        isLost = true
        kept = nil
    }

    override var isPermanent: Bool { !isTask }

    /// Ends the stage, unless its closure has begun.
    func abandon() {
        guard isTask, endsWhenCancelled || isLost, let output, output.claim() else { return }
        cancel()
        output.fulfil(.failure(CancellationError()))
    }
}

enum ModelOutcome {
    case value(Value)
    case future(ModelFuture)
}

/// A `flatMap` waits for its inner future.
final class ModelAdoption: ModelHandler, @unchecked Sendable {
    private let output: ModelFuture
    override var isPermanent: Bool { true }

    init(_ output: ModelFuture) {
        self.output = output
    }

    override fileprivate func lost() { output.orphan() }

    override func receive(_ value: Value, _ work: ModelWork) { output.fulfil(value, work) }
}
