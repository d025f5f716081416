internal import DeferredCore
import Foundation
import Synchronization

#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

extension Transfer {
    /// Called without a lock, by the one thread that empties the outbox.
    func perform(_ action: TransferStateMachine.Action) {
        switch action {
        case .createTask(let request):
            TransferQueue.control.async { self.createTask(for: request) }
        case .resumeTask(let task):
            TransferQueue.control.async { self.resumeTask(task) }
        case .cancelTask(let task):
            TransferQueue.control.async { self.cancelTask(task) }
        case .askAboutRedirect(let response, let proposal, let round):
            ask(about: response, proposal: proposal, round: round)
        case .askAboutChallenge(let failures, let round):
            askAboutChallenge(failures: failures, round: round)
        case .deliverHead(let response):
            deliver { try $0.receive(head: response) }
        case .deliverBytes(let bytes):
            deliver { try $0.receive(bytes: bytes) }
        case .reportProgress(let received, let expected):
            deliver { $0.progress(received: received, expected: expected) }
        case .reportSent(let sent, let expected):
            deliver { $0.progress(sent: sent, expected: expected) }
        case .finish(let result):
            finish(result)
        case .release:
            release()
        }
    }

    private func createTask(for request: TransferRequest) {
        // The lease keeps the session from being invalidated for as long as a task may be created on it.
        guard let carrier = state.withLock({ $0.lease?.carrier }) else { return }
        let task = carrier.makeTask(for: request)
        carrier.registry.insert(self, task: task.taskIdentifier)
        state.withLock { $0.task = task }
        handle { $0.created(task: task.taskIdentifier) }
    }

    private func resumeTask(_ identifier: Int) {
        guard let (task, carrier, configure) = current(identifier) else { return }
        configure?(task)
        carrier.claim(task)
        task.resume()
    }

    private func cancelTask(_ identifier: Int) {
        current(identifier)?.task.cancel()
    }

    private func current(
        _ identifier: Int
    ) -> (task: URLSessionTask, carrier: CarrierSession, configure: (@Sendable (URLSessionTask) -> Void)?)? {
        state.withLock { state in
            guard let task = state.task, task.taskIdentifier == identifier, let lease = state.lease else { return nil }
            return (task, lease.carrier, state.configure)
        }
    }

    private func deliver(_ call: (any TransferSink) throws -> Void) {
        guard let sink = state.withLock({ $0.sinkError == nil ? $0.sink : nil }) else { return }
        do {
            try call(sink)
        } catch {
            // The machine may have finished already: what waits in the outbox must not turn this into a success.
            state.withLock { $0.sinkError = error }
            abort(with: error)
        }
    }

    private func finish(_ result: Result<URLResponse, any Error>) {
        let (sink, error) = state.withLock { ($0.sink.take(), $0.sinkError.take()) }
        sink?.finish(error.map { .failure($0) } ?? result)
    }

    private func release() {
        // What the advisor retains, the user's session among it, goes before the lease, and none of it under the lock.
        var held = state.withLock { state in
            Optional((state.task.take(), state.challenge.take(), state.advisor.take(), state.configure.take()))
        }
        withExtendedLifetime(held) {}
        held = nil
        state.withLock { $0.lease.take() }?.giveBack()
    }
}
