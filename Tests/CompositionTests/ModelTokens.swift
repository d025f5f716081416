import DeferredCore
import DeferredTask

// Tokens and other sources of cancellation in the model.

/// The cancellation signal behind tokens: its handlers are called once, newest first, or dropped.
final class ModelBell: @unchecked Sendable {
    private(set) var isRung = false
    private var isGone = false
    private var handlers: [Handler] = []

    func register(_ body: @escaping @Sendable () -> Void) -> Handler {
        let handler = Handler(self, body)
        if isRung {
            handler.call()
        } else if isGone {
            handler.cancel()
        } else {
            handlers.append(handler)
        }
        return handler
    }

    func ring() {
        guard !isRung, !isGone else { return }
        isRung = true
        for handler in handlers.take().reversed() { handler.call() }
    }

    func drop() {
        guard !isRung else { return }
        isGone = true
        for handler in handlers.take() { handler.dismiss() }
    }

    final class Handler: @unchecked Sendable {
        private weak var bell: ModelBell?
        private var body: (@Sendable () -> Void)?
        private(set) var isCancelled = false

        init(_ bell: ModelBell, _ body: @escaping @Sendable () -> Void) {
            self.bell = bell
            self.body = body
        }

        func call() {
            guard let body = body.take() else { return }
            body()
        }

        func dismiss() {
            // Freed afterwards, since that may cancel this handler.
            let old = body.take()
            withExtendedLifetime(old) {}
        }

        func cancel() {
            guard body != nil else { return }
            isCancelled = true
            bell?.handlers.removeAll { $0 === self }
            dismiss()
        }
    }
}

extension Array {
    fileprivate mutating func take() -> Self {
        defer { self = [] }
        return self
    }
}

/// Lets a token keep a task, as long as the task can end.
final class ModelHold: @unchecked Sendable {
    var control: ModelControl?
    private weak var stage: ModelControlStage?

    init(_ control: ModelControl) {
        self.control = control
        stage = control.stage
    }

    func cancel() { stage?.cancel() }
}

final class ModelSource: @unchecked Sendable {
    let bell = ModelBell()
    private let links: [ModelBell.Handler]

    init(_ sources: some Sequence<ModelSource>) {
        links = sources.map { [bell] source in source.bell.register { bell.ring() } }
    }

    deinit {
        for link in links { link.cancel() }
        bell.drop()
    }
}

final class ModelRequest: @unchecked Sendable {
    var target: (() -> Void)?

    init(_ target: @escaping () -> Void) { self.target = target }
}

final class ModelLatest: @unchecked Sendable {
    private var number = 0
    /// The number of the last task that was delivered. A lost task is never delivered, but stays running.
    private var delivered = 0
    private var running: (task: ModelTask, delivery: ModelUpon)?

    func start(_ task: ModelTask, _ executor: any Executor, _ body: @escaping @Sendable (Value) -> Void) {
        number += 1
        let start = number
        stop()
        let delivery = ModelUpon(executor) { [weak self] value in
            guard let self else { return body(value) }
            // Never deliver a superseded task, whatever has happened since its end.
            guard number == start else { return }
            running = nil
            delivered = start
            body(value)
        }
        task.future.add(delivery)
        if number == start {
            if delivered != start { running = (task, delivery) }
        } else {
            delivery.cancel()
            task.control?.cancel()
        }
    }

    func cancel() {
        number += 1
        stop()
    }

    private func stop() {
        guard let (task, delivery) = running.take() else { return }
        delivery.cancel()
        task.control?.cancel()
    }
}
