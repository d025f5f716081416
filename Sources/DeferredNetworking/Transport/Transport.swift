internal import DeferredCore
internal import DeferredTask
import Foundation

#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

/// Sends requests over one engine, each exactly as it is: admission, deadlines, limits and events are here.
///
/// What is decided about a request, such as another attempt or a credential, it is given with each one as
/// ``RequestPolicies``; a chain of loaders decides that itself, and gives none. A client, a loader and each request
/// retain their transport; the engine holds no reference to it.
package final class Transport: Sendable {
    /// The configuration with the engine that was chosen.
    let configuration: URLClient.Configuration

    /// The engine that was chosen, and why.
    let engineDescription: String

    /// The fields of every request that doesn't have them, for a chain whose cache has to see them.
    package let defaultHeaders: HTTPHeaders

    /// The time limit of a request, unless its options have one.
    let totalDeadline: Duration?

    /// Filled when the engine has been invalidated.
    let invalidated: Future<Void>

    /// The reason why there is no engine, if there is none.
    private let refusal: URLClientError?

    private struct State {
        var admission: AdmissionStateMachine

        /// Released once the client is closed and idle: connections stay open for as long as the engine exists.
        var engine: (any Engine)?
        var requests: [UInt64: Exchange] = [:]
        var nextIdentifier: UInt64 = 1
    }

    /// An action, and what it is performed on.
    private enum Step {
        case start(Exchange, any Engine)
        case refuse(Exchange)
        case invalidate((any Engine)?)
    }

    private let state: Lock<State>

    package init(_ configuration: URLClient.Configuration) {
        let choice = ClientEngines.choose(for: configuration)
        self.configuration = choice.configuration
        engineDescription = choice.description
        totalDeadline = choice.configuration.totalDeadline
        defaultHeaders = HTTPHeaders(sorting: choice.configuration.defaultHeaders)
        let engine: (any Engine)?
        do throws(URLClientError) {
            let made = try ClientEngines.make(choice)
            engine = configuration.responseCache.map { CachingEngine(made, $0.connect(), choice.configuration) } ?? made
            refusal = nil
        } catch {
            engine = nil
            refusal = error
        }
        invalidated = engine?.invalidated ?? Future(value: ())
        let admission = AdmissionStateMachine(limit: configuration.maximumRequestsInFlight)
        state = Lock(State(admission: admission, engine: engine))
    }

    /// True if a cache answers requests.
    package var hasCache: Bool { configuration.responseCache != nil }

    /// The number of requests that have not ended, including those waiting in the queue.
    var requestCount: Int { state.withLock { $0.requests.count } }

    /// The number of requests that have begun and not ended, or of which the engine still has something left.
    var transferCount: Int { state.withLock { $0.admission.retainCount } }

    /// Begins a request, whose responses `receiver` receives.
    ///
    /// - Parameters:
    ///   - original: The caller's request, which events show.
    ///   - check: Returns what is sent for it.
    ///   - make: Makes the caller's value.
    func begin<Value: Sendable>(
        _ original: URLRequest,
        _ check: () throws(URLClientError) -> CheckedRequest,
        options: URLClient.RequestOptions,
        policies: RequestPolicies,
        reporter: ProgressReporter,
        to attempt: Exchange.Attempt,
        as make: @escaping @Sendable (ReceivedResponse) throws -> Value
    ) -> Task<Value> {
        let promise = Task<Value>.Promise()
        let completion = Exchange.Completion { received, conclude in
            let result = received.flatMap { response in Result { try make(response) } }
            if case .failure(let error) = result { conclude(error) } else { conclude(nil) }
            promise.fill(with: result)
        }
        switch makeExchange(original, check, options, policies, reporter, attempt, completion) {
        case .success(let exchange):
            // It may keep the promise: an exchange always ends.
            let task = Task<Value>(producedBy: promise.storage, .reporting(reporter)) { exchange.cancel() }
            exchange.begin()
            return task
        case .failure(let error):
            return .failure(error)
        }
    }

    private func makeExchange(
        _ original: URLRequest,
        _ check: () throws(URLClientError) -> CheckedRequest,
        _ options: URLClient.RequestOptions,
        _ policies: RequestPolicies,
        _ reporter: ProgressReporter,
        _ attempt: Exchange.Attempt,
        _ completion: Exchange.Completion
    ) -> Result<Exchange, any Error> {
        let (identifier, engine) = state.withLock { state in
            defer { state.nextIdentifier += 1 }
            return (state.nextIdentifier, state.engine)
        }
        let events = EventReporter(
            identifier,
            for: options.task,
            original,
            monitor: options.monitor(after: configuration.monitor)
        )
        events?.report(.created)
        let total = options.total ?? totalDeadline
        let checked: CheckedRequest
        do throws(URLClientError) {
            if let refusal { throw refusal }
            if let total, total <= .zero { throw .deadlineExceeded }
            try options.checkRateLimit()
            if !(attempt.receiver is ResumableUploadReceiver) { try options.refuseResumedUpload() }
            checked = try check().fitted(to: engine)
            if options.onInterimResponse != nil { try engine?.checkStreaming("interim responses") }
            if options.resumesUpload { try engine?.checkStreaming("resumable uploads") }
            if options.rateLimit != nil { try engine?.checkStreaming("rate limits") }
        } catch {
            let named = error.about(original.url)
            events?.report(.finished(named))
            return .failure(named)
        }
        var settings = Exchange.Settings(
            identifier: identifier,
            transport: self,
            policies: policies,
            redirects: options.redirects ?? configuration.redirects,
            originBoundFields: Set(options.originBoundFields.map { $0.lowercased() }),
            deadlines: configuration.deadlines,
            clock: configuration.deadlineClock,
            idle: options.idle,
            total: total,
            events: events,
            onInterimResponse: options.onInterimResponse,
            reporter: reporter,
            cachePartition: options.cachePartition,
            rateLimit: options.rateLimit
        )
        if let priority = options.priority { settings.configure = { $0.priority = priority } }
        return .success(Exchange(checked, settings, to: attempt, completion: completion))
    }

    func arrived(_ request: Exchange) {
        perform { state in
            state.requests[request.identifier] = request
            return state.admission.arrived(request.identifier, origin: Origin(of: request.url).text)
        }
    }

    /// Removes a request. The caller is the request itself, so that it isn't released under the lock.
    func left(_ request: UInt64) {
        perform { state in
            // A refused request has been removed already.
            guard state.requests.removeValue(forKey: request) != nil else { return nil }
            return state.admission.left(request)
        }
    }

    /// Lets others run while a request pauses.
    func steppedAside(_ request: UInt64) {
        perform { state in
            // One that has left meanwhile has no place to give.
            state.requests[request] == nil ? nil : state.admission.steppedAside(request)
        }
    }

    /// Starts it again when there is room.
    func cameBack(_ request: UInt64) {
        perform { $0.admission.cameBack(request) }
    }

    /// Refuses new requests, and releases the engine when all current ones have ended.
    func close(finishesWork: Bool = true) {
        perform { $0.admission.close(finishesWork: finishesWork) }
    }

    /// Accepts requests until a task has ended, also while it is being closed.
    func keepOpen(for task: Task<some Sendable>) {
        state.withLock { $0.admission.workBegan() }
        let work = Work { self.perform { $0.admission.workEnded() } }
        task.upon(.immediate) { _ in withExtendedLifetime(work) {} }
    }

    /// Work for which a client stays open. It ends with this object: a handler whose future is lost is released, not called.
    private final class Work: Sendable {
        private let end: @Sendable () -> Void
        init(_ end: @escaping @Sendable () -> Void) { self.end = end }
        deinit { end() }
    }

    /// Fails all running and waiting requests.
    func abortAll(with error: @Sendable (URL) -> any Error) {
        // Those that wait first: they must not start when running requests make room for them.
        let requests = state.withLock { state in
            let all = state.requests.values.sorted { $0.identifier > $1.identifier }
            return [true, false].flatMap { waits in
                all.filter { state.admission.isWaiting($0.identifier) == waits }
            }
        }
        for request in requests {
            request.cancel(with: error(request.url))
        }
    }

    private func perform(_ event: (inout State) -> AdmissionStateMachine.Action?) {
        let step = state.withLock { state -> Step? in
            switch event(&state) {
            case nil: nil
            case .start(let identifier)?:
                // Both are there: a request that has left isn't started, and none arrives without an engine.
                state.requests[identifier].flatMap { request in state.engine.map { Step.start(request, $0) } }
            case .refuse(let identifier)?: state.requests.removeValue(forKey: identifier).map { .refuse($0) }
            case .invalidate?: .invalidate(state.engine.take())
            }
        }
        switch step {
        case nil: break
        case .start(let request, let engine):
            let retained = RetainedEngine(engine) { self.perform { $0.admission.released() } }
            // One that fails at once makes room for the next, and so on.
            Trampoline.perform { request.admitted(retained) }
        case .refuse(let request): request.cancel(with: URLClientError.shutDown)
        case .invalidate(let engine): engine?.invalidate()
        }
    }
}
