import Foundation

#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

extension TransferStateMachine {
    mutating func start() -> [Action] {
        switch state {
        case .idle:
            return create(request)
        case .finished:
            return []
        case .creating, .running, .stopping, .deciding:
            preconditionFailure("start() in state \(state)")
        }
    }

    /// The user's wish. A result that came first stays.
    mutating func cancel() -> [Action] {
        abort(with: URLError(.cancelled, failing: request.url))
    }

    /// Ends the transfer with `error`, unless it has ended: a deadline, or a sink that can take no more.
    mutating func abort(with error: any Error) -> [Action] {
        switch state {
        case .idle, .deciding:
            state = .finished(.nothing)
            return [.finish(.failure(error)), .release]
        case .creating:
            state = .finished(.creation)
            return [.finish(.failure(error))]
        case .running(let exchange):
            state = .finished(.task(exchange.task))
            return [.finish(.failure(error)), .cancelTask(exchange.task)]
        case .stopping(let exchange, _):
            state = .finished(.task(exchange.task))
            return [.finish(.failure(error))]
        case .finished:
            return []
        }
    }

    /// The session will call back no more.
    mutating func invalidated() -> [Action] {
        switch state {
        case .idle, .creating, .deciding:
            return abort(with: URLClientError.shutDown)
        case .running, .stopping:
            return finish(.failure(URLClientError.shutDown))
        case .finished(.task):
            state = .finished(.nothing)
            return [.release]
        case .finished(.creation), .finished(.nothing):
            return []
        }
    }

    mutating func create(_ next: TransferRequest) -> [Action] {
        request = next
        state = .creating
        return [.createTask(next)]
    }

    /// Ends the transfer when no task is left.
    mutating func finish(_ result: Result<URLResponse, any Error>) -> [Action] {
        state = .finished(.nothing)
        return [.finish(result), .release]
    }
}
