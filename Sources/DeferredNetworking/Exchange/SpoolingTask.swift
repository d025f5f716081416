internal import DeferredCore
internal import DeferredTask
import Foundation

/// A task whose body is gathered in a file before the engine gets it.
final class SpoolingTask: EngineTask {
    private enum State {
        case new
        case spooling(Task<SpooledFile>)

        /// The engine makes its task, which is the one that ends from now on.
        case starting(isCancelled: Bool)
        case sending(any EngineTask, SpooledFile)
        case ended
    }

    private let request: CheckedRequest
    private let body: StreamedBody
    private let locals: TaskLocals?
    private let exchange: Exchange

    /// The task's number in the exchange.
    private let number: Int
    private let engine: any Engine
    private let state = Lock(State.new)

    init(
        _ request: CheckedRequest,
        _ body: StreamedBody,
        _ locals: TaskLocals?,
        of exchange: Exchange,
        as number: Int,
        on engine: any Engine
    ) {
        (self.request, self.body, self.locals) = (request, body, locals)
        (self.exchange, self.number, self.engine) = (exchange, number, engine)
    }

    func resume() {
        let spooling = locals.restore {
            body.file { [weak exchange, number] in exchange?.receive(.activity, of: number) }
        }
        let mayGoOn = state.withLock { state in
            guard case .new = state else { return false }
            state = .spooling(spooling)
            return true
        }
        guard mayGoOn else { return spooling.cancel() }
        spooling.upon(.immediate) { result in
            switch result {
            case .success(let file): self.send(file)
            case .failure(let error): self.end(error)
            }
        }
    }

    private func send(_ file: SpooledFile) {
        let mayGoOn = state.withLock { state in
            guard case .spooling = state else { return false }
            state = .starting(isCancelled: false)
            return true
        }
        guard mayGoOn else { return }
        let inner = engine.makeTask(for: request.with(.file(file.url)), of: exchange, as: number)
        let isCancelled = state.withLock { state in
            defer { state = .sending(inner, file) }
            if case .starting(let isCancelled) = state { return isCancelled } else { return false }
        }
        if isCancelled { inner.cancel() } else { inner.resume() }
    }

    func cancel() {
        let old = state.withLock { state in
            defer {
                switch state {
                case .new, .spooling, .ended: state = .ended
                case .starting: state = .starting(isCancelled: true)
                case .sending: break
                }
            }
            return state
        }
        switch old {
        case .new: tell(URLError(.cancelled, failing: request.url))
        case .spooling(let spooling):
            tell(URLError(.cancelled, failing: request.url))
            spooling.cancel()
        case .starting, .ended: break
        case .sending(let task, _): task.cancel()
        }
    }

    private func end(_ error: any Error) {
        let isOver = state.withLock { state in
            guard case .spooling = state else { return true }
            state = .ended
            return false
        }
        if !isOver { tell(error) }
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
