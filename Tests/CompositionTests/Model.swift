import DeferredCore
import DeferredTask

// The model: the library's contract in its simplest form, for one thread. A future is a value and an ordered list of
// handlers. The effects of a future's value are performed from a list of work, one future after another.

/// A handler that waits for a future.
///
/// SAFETY: everything in the model is used by one thread.
class ModelHandler: @unchecked Sendable {
    enum Place { case waiting, submitted, done, cancelled }

    var place = Place.waiting
    weak var owner: ModelFuture?

    /// Claims the right to run.
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

    /// Releases the captures.
    func dismiss() {}

    /// Notes that the future which this waits for will never be filled.
    final func goUnfilled() {
        if take() { dismiss() }
        lost()
    }

    fileprivate func lost() {}

    /// True if the handler can't be cancelled.
    var isPermanent: Bool { false }
}

final class ModelFuture: @unchecked Sendable {
    var value: Value?
    var isClaimed = false
    var handlers: [ModelHandler] = []
    /// The cancellation state to end before handlers run.
    var state: ModelState?
    /// What lets tokens keep the task, until this is lost.
    var holds: [ModelHold] = []
    /// The number of references that users have.
    var handles = 0
    /// True if nobody can fill this future any more, so that it keeps no handlers.
    private var isOrphaned = false

    init(_ value: Value? = nil) {
        self.value = value
        isClaimed = value != nil
    }

    deinit {
        for handler in handlers { handler.goUnfilled() }
        for hold in holds { hold.control = nil }
    }

    func orphan() {
        if state == nil { for hold in holds { hold.control = nil } }
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

    /// Adds a handler, or passes the value to it if there is one.
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

/// A list of filled futures, with the handlers to run.
final class ModelWork {
    var futures: [(value: Value, handlers: [ModelHandler])] = []

    func run() {
        while !futures.isEmpty {
            let (value, handlers) = futures.removeFirst()
            for handler in handlers { handler.receive(value, self) }
        }
    }
}

/// A handler registered by a user.
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
    /// A strong reference to `output`, as long as there is something to wait for. Afterwards only code that can inspect
    /// the output retains it. When it is released, so are the handlers that wait for it, even if the task could still
    /// be cancelled.
    private var kept: ModelFuture?
    /// True for an operator of `Task`, which can be cancelled until its closure begins.
    private let isTask: Bool
    /// True if a cancellation ends the stage, unless its closure has begun.
    private let endsWhenCancelled: Bool
    private let executor: any Executor
    /// Returns true for values that need no closure.
    private let shortcut: (Value) -> Bool
    private var body: Body?
    /// True while the future that this waited for submits this to the executor, and so retains it.
    private var isHeld = false
    /// True if the closure will never be called.
    private var isLost = false
    /// The cancellation of the task whose stage this is.
    weak var state: ModelState?

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

    /// A submission to an executor, which may run it twice, or drop it.
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
                // Nobody can observe the stage any more: its handlers move to the inner future.
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
        // It has waited for its input in spite of that.
        if state?.isCancelled == true { abandon() }
        kept = nil
    }

    override var isPermanent: Bool { !isTask }

    /// Cancels the stage, unless its closure has begun.
    func abandon() {
        guard isTask, endsWhenCancelled || isLost else { return }
        abandon(with: .failure(CancellationError())) {}
    }

    func abandon(with value: Value, first: () -> Void) {
        guard let output, output.claim() else { return }
        first()
        cancel()
        output.fulfil(value)
    }
}

enum ModelOutcome {
    case value(Value)
    case future(ModelFuture)
}

/// The handler by which a `flatMap` waits for its inner future.
final class ModelAdoption: ModelHandler, @unchecked Sendable {
    private let output: ModelFuture
    override var isPermanent: Bool { true }

    init(_ output: ModelFuture) {
        self.output = output
    }

    override fileprivate func lost() { output.orphan() }

    override func receive(_ value: Value, _ work: ModelWork) { output.fulfil(value, work) }
}
