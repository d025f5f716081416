internal import DeferredCore
internal import DeferredTask
import Foundation

#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

/// What of a client outlives the last reference to it: the session, and what runs on it.
///
/// It is kept by the client and by each operation; nothing of the session's refers to the client itself.
final class ClientCore: Sendable {
    let configuration: URLClient.Configuration

    /// Filled when the session is gone.
    let invalidated: Future<Void>

    private struct State {
        var admission: AdmissionStateMachine

        /// Given up when the client closes: the platform keeps the connections for as long as there is a session.
        var carrier: CarrierSession?
        var operations: [UInt64: any ClientWork] = [:]
        var nextIdentifier: UInt64 = 1
    }

    private let state: Lock<State>

    init(_ configuration: URLClient.Configuration) {
        self.configuration = configuration
        let carrier = CarrierSession(copying: configuration.makeSessionConfiguration())
        invalidated = carrier.invalidated
        let admission = AdmissionStateMachine(limit: configuration.maximumRequestsInFlight)
        state = Lock(State(admission: admission, carrier: carrier))
    }

    /// How many operations have not ended, those that wait for their turn included.
    var operationCount: Int { state.withLock { $0.operations.count } }

    /// How many platform tasks the session has for this client.
    var transferCount: Int { state.withLock { $0.carrier }?.registry.count ?? 0 }

    /// Begins an operation that makes each of its attempts with `attempt`.
    func begin<Value: Sendable>(
        _ request: TransferRequest,
        reporter: ProgressReporter,
        attempt: @escaping @Sendable (Attempt<Value>) -> AttemptHandle
    ) -> Task<Value> {
        let identifier = state.withLock { state in
            defer { state.nextIdentifier += 1 }
            return state.nextIdentifier
        }
        let promise = Task<Value>.Promise()
        let operation = ClientOperation(identifier, request, on: self, promise: promise, makeAttempt: attempt)
        let task = Task(promise, reporter: reporter, uponCancel: { _ in operation.cancel() })
        operation.begin()
        return task
    }

    func arrived(_ operation: any ClientWork, host: String) {
        perform { state in
            state.operations[operation.identifier] = operation
            return state.admission.arrived(operation.identifier, host: host)
        }
    }

    func left(_ operation: UInt64) {
        perform { state in
            // A refused one is gone already.
            guard state.operations.removeValue(forKey: operation) != nil else { return [] }
            return state.admission.left(operation)
        }
    }

    /// The right to begin a transfer, unless the session is gone.
    func lease() -> CarrierLease? {
        guard let carrier = state.withLock({ $0.admission.leased() ? $0.carrier : nil }) else { return nil }
        return CarrierLease(carrier) { self.perform { $0.admission.leaseReturned() } }
    }

    /// Refuses what comes, and lets the session go when what is here has ended.
    func close() {
        perform { $0.admission.close() }
    }

    /// Ends everything that runs or waits.
    func abortAll(with error: @Sendable (URL?) -> any Error) {
        // The newest first: those wait, and are not to begin when the running ones make room.
        let operations = state.withLock { $0.operations.values.sorted { $0.identifier > $1.identifier } }
        for operation in operations {
            operation.abort(with: error(operation.url))
        }
    }

    private func perform(_ event: (inout State) -> [AdmissionStateMachine.Action]) {
        let steps = state.withLock { state in
            event(&state).map { action -> (AdmissionStateMachine.Action, (any ClientWork)?) in
                switch action {
                case .start(let identifier): (action, state.operations[identifier])
                case .refuse(let identifier): (action, state.operations.removeValue(forKey: identifier))
                case .invalidate: (action, nil)
                }
            }
        }
        for (action, operation) in steps {
            switch action {
            case .start: operation?.admitted()
            case .refuse: operation?.abort(with: URLClientError.shutDown)
            case .invalidate: state.withLock { $0.carrier.take() }?.invalidate()
            }
        }
    }
}

/// An operation, whatever it gives.
protocol ClientWork: AnyObject, Sendable {
    var identifier: UInt64 { get }
    var url: URL? { get }
    func admitted()
    func abort(with error: any Error)
}
