import Foundation

#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

extension TransferStateMachine {
    mutating func created(task: Int) -> [Action] {
        switch state {
        case .creating:
            state = .running(Exchange(task: task))
            return [.resumeTask(task)]
        case .finished(.creation):
            state = .finished(.task(task))
            return [.cancelTask(task)]
        case .idle, .running, .stopping, .deciding, .finished:
            preconditionFailure("created(task: \(task)) in state \(state)")
        }
    }

    /// A response; of several, the last one counts, and its body replaces what came before.
    mutating func received(_ response: URLResponse, task: Int) -> [Action] {
        guard case .running(var exchange) = state, exchange.task == task, !isInterim(response) else { return [] }
        exchange.response = response
        exchange.received = 0
        exchange.expected = BodyLength.expected(from: response, method: request.method)
        state = .running(exchange)
        return [.deliverHead(response), .reportProgress(received: 0, expected: exchange.expected)]
    }

    mutating func received(_ bytes: Data, task: Int) -> [Action] {
        guard case .running(var exchange) = state, exchange.task == task, exchange.response != nil else { return [] }
        exchange.received += Int64(bytes.count)
        state = .running(exchange)
        return [.deliverBytes(bytes), .reportProgress(received: exchange.received, expected: exchange.expected)]
    }

    /// - Parameter expected: the whole body's length, or a number below 1 when it is not known.
    mutating func sent(_ bytes: Int64, expected: Int64, task: Int) -> [Action] {
        guard case .running(var exchange) = state, exchange.task == task else { return [] }
        // The platform's own total repeats and jumps; the sum of its steps is right.
        exchange.sent += bytes
        state = .running(exchange)
        return [.reportSent(exchange.sent, expected: expected > 0 ? expected : nil)]
    }

    mutating func redirected(by response: HTTPURLResponse, task: Int) -> [Action] {
        stop(for: .redirect(response), task: task)
    }

    mutating func challenged(task: Int) -> [Action] {
        stop(for: .challenge, task: task)
    }

    /// The platform wants to send a body again that it has already read: it lost a kept-alive connection.
    mutating func bodyStreamWanted(task: Int) -> [Action] {
        stop(for: .rewind, task: task)
    }

    /// - Parameter response: the task's response, which on Linux may never have been delivered: those of redirects that
    ///   name no usable target aren't.
    mutating func completed(task: Int, response: URLResponse?, error: (any Error)?) -> [Action] {
        switch state {
        case .running(let exchange) where exchange.task == task:
            if error == nil, exchange.response == nil, let response, isRedirect(response) {
                return deliver(response)
            }
            return finish(result(of: exchange, error: error))
        case .stopping(let exchange, let stop) where exchange.task == task:
            return stopped(exchange, for: stop)
        case .finished(.task(task)):
            state = .finished(.nothing)
            return [.release]
        case .idle, .creating, .running, .stopping, .deciding, .finished:
            return []
        }
    }

    private mutating func stop(for reason: Stop, task: Int) -> [Action] {
        guard case .running(let exchange) = state, exchange.task == task else { return [] }
        state = .stopping(exchange, reason)
        return [.cancelTask(task)]
    }

    private func result(of exchange: Exchange, error: (any Error)?) -> Result<URLResponse, any Error> {
        if let error {
            let context = TransferErrorMapping.Context(
                url: request.url,
                received: exchange.received,
                expected: exchange.expected,
                hasResponse: exchange.response != nil
            )
            return .failure(TransferErrorMapping.mapped(error, in: context))
        }
        guard let response = exchange.response else {
            return .failure(URLError(.badServerResponse, failing: request.url))
        }
        if let expected = exchange.expected, exchange.received < expected {
            return .failure(URLClientError.truncatedBody(received: exchange.received, expected: expected))
        }
        return .success(response)
    }

    private func isRedirect(_ response: URLResponse) -> Bool {
        (response as? HTTPURLResponse).map { (300..<400).contains($0.statusCode) } ?? false
    }

    /// 1xx, except 101: what follows that is a body.
    private func isInterim(_ response: URLResponse) -> Bool {
        guard let status = (response as? HTTPURLResponse)?.statusCode else { return false }
        return (100..<200).contains(status) && status != 101
    }
}
