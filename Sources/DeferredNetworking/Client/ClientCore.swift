internal import DeferredCore
internal import DeferredTask
import Foundation

#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

/// The part of a client that outlives it: its engine and its requests.
///
/// It is kept by the client and by each request; nothing of the session's refers to the client itself.
final class ClientCore: Sendable {
    let configuration: URLClient.Configuration

    /// Filled when the engine is gone.
    let invalidated: Future<Void>

    private let defaultHeaders: [String: String]

    /// Why there is no engine.
    private let refusal: URLClientError?

    private struct State {
        var admission: AdmissionStateMachine

        /// Given up when the client closes: the platform keeps the connections for as long as there is an engine.
        var engine: (any Engine)?
        var requests: [UInt64: any AnyClientRequest] = [:]
        var nextIdentifier: UInt64 = 1
    }

    private let state: Lock<State>

    init(_ configuration: URLClient.Configuration) {
        self.configuration = configuration
        let engine: (any Engine)?
        do throws(URLClientError) {
            engine = try ClientEngines.make(configuration)
            refusal = nil
        } catch {
            engine = nil
            refusal = error
        }
        invalidated = engine?.invalidated ?? Future(value: ())
        defaultHeaders = engine?.defaultHeaders ?? [:]
        let admission = AdmissionStateMachine(limit: configuration.maximumRequestsInFlight)
        state = Lock(State(admission: admission, engine: engine))
    }

    /// How many requests have not ended, those that wait for their turn included.
    var requestCount: Int { state.withLock { $0.requests.count } }

    /// How many tasks the engine has for this client.
    var transferCount: Int { state.withLock { $0.engine }?.taskCount ?? 0 }

    /// Begins a request each attempt of which begins with `start`.
    func begin<Value: Sendable>(
        _ request: URLRequest,
        body: CheckedRequest.Body = .inRequest,
        options: URLClient.RequestOptions,
        reporter: ProgressReporter,
        start: @escaping ClientRequest<Value>.Start
    ) -> Task<Value> {
        let identifier = state.withLock { state in
            defer { state.nextIdentifier += 1 }
            return state.nextIdentifier
        }
        let events = EventReporter(identifier, request, monitor: options.monitor(after: configuration.monitor))
        events.report(.created)
        let checked: CheckedRequest
        do throws(URLClientError) {
            if let refusal { throw refusal }
            checked = try CheckedRequest(request, body: body, defaultHeaders: defaultHeaders)
        } catch {
            let named = error.about(request.url)
            events.report(.finished(named))
            return .failure(named)
        }
        let promise = Task<Value>.Promise()
        let request = ClientRequest(
            identifier,
            checked,
            on: self,
            options: options,
            events: events,
            promise: promise,
            start: start
        )
        let task = Task(promise, reporter: reporter, uponCancel: { _ in request.cancel() })
        request.begin()
        return task
    }

    func arrived(_ request: any AnyClientRequest, host: String) {
        perform { state in
            state.requests[request.identifier] = request
            return state.admission.arrived(request.identifier, host: host)
        }
    }

    /// Called by the request itself, which so isn't dropped under the lock.
    func left(_ request: UInt64) {
        perform { state in
            // A refused one is gone already.
            guard state.requests.removeValue(forKey: request) != nil else { return [] }
            return state.admission.left(request)
        }
    }

    /// Lets others run while a request pauses.
    func steppedAside(_ request: UInt64) {
        perform { state in
            // One that has left meanwhile has no place to give.
            state.requests[request] == nil ? [] : state.admission.steppedAside(request)
        }
    }

    /// Starts it again when there is room.
    func cameBack(_ request: UInt64) {
        perform { $0.admission.cameBack(request) }
    }

    /// The right to begin a transfer, unless the engine is gone.
    func lease() -> EngineLease? {
        guard let engine = state.withLock({ $0.admission.leased() ? $0.engine : nil }) else { return nil }
        return EngineLease(engine) { self.perform { $0.admission.leaseReturned() } }
    }

    /// Refuses what comes, and lets the engine go when what is here has ended.
    func close() {
        perform { $0.admission.close() }
    }

    /// Ends everything that runs or waits.
    func abortAll(with error: @Sendable (URL) -> any Error) {
        // The newest first: those wait, and are not to begin when the running ones make room.
        let requests = state.withLock { $0.requests.values.sorted { $0.identifier > $1.identifier } }
        for request in requests {
            request.abort(with: error(request.url))
        }
    }

    private func perform(_ event: (inout State) -> [AdmissionStateMachine.Action]) {
        let steps = state.withLock { state in
            event(&state).map { action -> (AdmissionStateMachine.Action, (any AnyClientRequest)?) in
                switch action {
                case .start(let identifier): (action, state.requests[identifier])
                case .refuse(let identifier): (action, state.requests.removeValue(forKey: identifier))
                case .invalidate: (action, nil)
                }
            }
        }
        for (action, request) in steps {
            switch action {
            case .start:
                guard let request else { continue }
                // One that fails at once makes room for the next, and so on.
                if Trampoline.nest(request.admitted) == nil { Trampoline.putOff(request.admitted) }
            case .refuse: request?.abort(with: URLClientError.shutDown)
            case .invalidate: state.withLock { $0.engine.take() }?.invalidate()
            }
        }
    }
}

/// A request, whatever it gives.
protocol AnyClientRequest: AnyObject, Sendable {
    var identifier: UInt64 { get }
    var url: URL { get }
    func admitted()
    func abort(with error: any Error)
}
