internal import DeferredCore
internal import DeferredTask
import Foundation

/// A task whose body is gathered in a file before the engine gets it.
final class SpoolingTask: EngineTask {
    private enum State {
        /// The bytes are gathered, once the task is resumed.
        case spooling(Task<SpooledFile>?)

        /// The engine makes its task, which is the one that ends from now on.
        case starting
        case sending(any EngineTask, SpooledFile)

        /// It was cancelled, or could not be spooled.
        case ended
    }

    private let request: CheckedRequest
    private let body: StreamedBody
    private let locals: TaskLocals?
    private let exchange: Exchange

    /// The task's number in the exchange.
    private let number: Int
    private let engine: any Engine
    private let state = Lock(State.spooling(nil))

    init(
        _ request: CheckedRequest,
        _ body: StreamedBody,
        _ locals: TaskLocals?,
        of exchange: Exchange,
        as number: Int,
        on engine: any Engine
    ) {
        self.request = request
        self.body = body
        self.locals = locals
        self.exchange = exchange
        self.number = number
        self.engine = engine
    }

    func resume() {
        let spooling = locals.restore {
            body.file { [weak exchange, number] in exchange?.receive(.activity, of: number) }
        }
        guard goOn(to: .spooling(spooling)) else { return spooling.cancel() }
        spooling.upon(.immediate) { result in
            switch result {
            case .success(let file): self.send(file)
            case .failure(let error): if self.goOn(to: .ended) { self.tell(error) }
            }
        }
    }

    /// Changes the state, unless the task is cancelled.
    private func goOn(to next: State) -> Bool {
        state.withLock { state in
            guard case .spooling = state else { return false }
            state = next
            return true
        }
    }

    private func send(_ file: SpooledFile) {
        guard goOn(to: .starting) else { return }
        let inner = engine.makeTask(for: request.with(.file(file.url)), of: exchange, as: number)
        let isCancelled = state.withLock { state in
            defer { state = .sending(inner, file) }
            if case .ended = state { return true } else { return false }
        }
        if isCancelled { inner.cancel() } else { inner.resume() }
    }

    func cancel() {
        let old = state.withLock { state in
            defer { if case .sending = state {} else { state = .ended } }
            return state
        }
        switch old {
        case .spooling(let spooling):
            tell(URLError(.cancelled, failing: request.url))
            spooling?.cancel()
        case .starting, .ended: break
        case .sending(let task, _): task.cancel()
        }
    }

    private func tell(_ error: any Error) {
        exchange.receive(.ended(nil, error: error), of: number)
    }

    private var sending: (any EngineTask)? {
        state.withLock { if case .sending(let task, _) = $0 { task } else { nil } }
    }

    func pause(while isPaused: @escaping @Sendable () -> Bool) { sending?.pause(while: isPaused) }
    func took(_ count: Int) { sending?.took(count) }
    func expire() { sending?.expire() }
    var silence: Duration? { sending?.silence }

    func afterReading(_ body: @escaping @Sendable () -> Void) {
        if let sending { sending.afterReading(body) } else { body() }
    }
}
