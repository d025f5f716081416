internal import DeferredCore
internal import DeferredTask
internal import Foundation

/// A request on its way through a client's cache.
final class CachedTask: EngineTask {
    private let origin: CacheOrigin
    private let exchange: Exchange

    /// The task's number in the exchange.
    private let number: Int
    private let connection: URLClient.CacheConnection

    private struct State {
        /// Stops the cache's work, or the body.
        var stop: (@Sendable () -> Void)?
        var isCancelled = false
        var isResumed = false
        var isSent = false
        weak var sending: Exchange?
        /// True once there is a response, or a failure.
        var isAnswered = false
        /// The condition under which the body is not read.
        var isPaused: (@Sendable () -> Bool)?
        /// Filled when the condition has changed, or the task is cancelled, so that neither is missed between looking
        /// and waiting.
        var change = Deferred<Void>()
    }

    private let state = Lock(State())

    /// Filled when the request that was sent has ended: its body may take longer than the response.
    let sent = Deferred<(any Error)?>()

    init(
        _ request: CheckedRequest,
        of exchange: Exchange,
        as number: Int,
        in engine: CachingEngine
    ) {
        self.exchange = exchange
        self.number = number
        connection = engine.connection
        let outer = exchange.settings
        var settings = Exchange.Settings(redirects: .none, rateLimit: outer.rateLimit, configure: outer.configure)
        if outer.policies.acceptsAnyPart { settings.policies = .ofChain }
        (settings.deadlines, settings.clock, settings.idle) = (outer.deadlines, outer.clock, outer.idle)
        origin = CacheOrigin(
            request: request,
            engine: RetainedEngine(engine.inner) { [retained = exchange.retained] in
                withExtendedLifetime(retained) {}
            },
            configuration: engine.configuration,
            wantsOwnConnection: exchange.wantsOwnConnection,
            isMeasured: exchange.isMeasured,
            settings: settings
        )
    }

    func tell(_ event: EngineEvent) { exchange.receive(event, of: number) }

    // MARK: - For the client

    func resume() {
        let isCancelled = state.withLock { state in
            state.isResumed = true
            return state.isCancelled
        }
        // One that was cancelled before has ended.
        if isCancelled { return }
        let caller = URLClient.CacheConnection.Caller(
            task: exchange.settings.reporter,
            partition: exchange.settings.cachePartition,
            isPersonal: !exchange.settings.policies.authentication.isNone,
            timeout: origin.request.timeout
        )
        let loading = connection.load(origin.request, caller) { [origin, weak self] in origin.send($0, telling: self) }
        loading.upon(.immediate) { result in
            switch result {
            case .success(let (head, body)): self.answer(head, body)
            case .failure(let error): self.end(nil, error)
            }
        }
        let mustStop = state.withLock { state in
            // Once there is an answer, its body is stopped instead.
            guard !state.isAnswered, !state.isCancelled else { return !state.isAnswered }
            state.stop = { loading.cancel() }
            return false
        }
        if mustStop { loading.cancel() }
    }

    func cancel() {
        let (stop, change, isNew) = state.withLock { state in
            defer { state.isCancelled = true }
            return (state.stop.take(), state.change, !state.isResumed)
        }
        stop?()
        change.fill()
        if isNew { end(nil, CancellationError()) }
    }

    func pause(while isPaused: @escaping @Sendable () -> Bool) {
        let (old, change) = state.withLock { state in
            defer { (state.isPaused, state.change) = (isPaused, Deferred()) }
            return (state.isPaused, state.change)
        }
        withExtendedLifetime(old) {}
        change.fill()
    }

    var silence: Duration? { state.withLock { $0.sending }?.task?.silence }

    func expire() { state.withLock { $0.sending }?.task?.expire() }

    func afterReading(_ body: @escaping @Sendable () -> Void) {
        guard let sending = state.withLock({ $0.sending })?.task else { return body() }
        sending.afterReading(body)
    }

    /// Bytes are read one piece at a time, so that none pile up.
    func took(_ count: Int) {}

    // MARK: - For the cache

    func sent(by exchange: Exchange) {
        state.withLock { ($0.isSent, $0.sending) = (true, exchange) }
    }

    /// Delivers a response, and reads its body as fast as it is wanted.
    private func answer(_ head: ResponseHead, _ body: HTTPBodyStream) {
        let stop: @Sendable () -> Void = { body.cancel() }
        let (isCancelled, isSent, old) = state.withLock { state in
            defer { (state.isAnswered, state.stop) = (true, state.isCancelled ? nil : stop) }
            return (state.isCancelled, state.isSent, state.stop)
        }
        withExtendedLifetime(old) {}
        // Not a response of the server's, which another attempt could change.
        if head.age == nil, !isSent { return end(nil, URLError(.resourceUnavailable)) }
        if isCancelled { stop() }
        let isRedirect = origin.isRedirect(head)
        if !isRedirect { tell(.head(head)) }
        _Concurrency.Task {
            do {
                try await self.waitWhileHeld()
                var iterator = body.makeAsyncIterator()
                while let bytes = try await iterator.next() {
                    if !isRedirect { self.tell(.bytes(bytes)) }
                    try await self.waitWhileHeld()
                }
                let whole = head.with(trailers: body.trailers)
                // Its body has been read, though it is empty, so that it is stored.
                if isRedirect { self.tell(.redirect(head)) }
                if isSent, self.origin.request.hasBody, let error = await self.endOfSending(after: whole) {
                    throw error
                }
                self.end(whole, nil)
            } catch {
                self.end(head, error)
            }
        }
    }

    /// Waits for the end of the request that was sent, whose response has come to its own.
    private func endOfSending(after head: ResponseHead) async -> (any Error)? {
        if !sent.future.isFilled { tell(.answered(head)) }
        let cancelled = state.withLock { state -> Exchange? in
            state.stop = { [weak sending = state.sending] in sending?.cancel() }
            return state.isCancelled ? state.sending : nil
        }
        cancelled?.cancel()
        return await sent.future.value
    }

    private func end(_ head: ResponseHead?, _ error: (any Error)?) {
        let (stop, isPaused) = state.withLock { state in
            state.isAnswered = true
            return (state.stop.take(), state.isPaused.take())
        }
        withExtendedLifetime((stop, isPaused)) {}
        let isCancellation = error is CancellationError
        tell(.ended(head, error: isCancellation ? URLError(.cancelled, failing: origin.request.url) : error))
    }

    private func waitWhileHeld() async throws {
        while true {
            let (isPaused, change, isCancelled) = state.withLock { ($0.isPaused, $0.change, $0.isCancelled) }
            if isCancelled { throw CancellationError() }
            guard let isPaused, isPaused() else { return }
            await change.future.value
        }
    }
}
