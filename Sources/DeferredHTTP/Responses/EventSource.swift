public import DeferredNetworking
internal import DeferredTask

extension HTTPLoader {
    /// Returns the server-sent events of a resource, without end: the WHATWG HTML standard, section 9.2.
    ///
    /// ```swift
    /// for try await event in chain.events(of: HTTPRequest(path: "/events")) {
    ///     print(event.type, event.data)
    /// }
    /// ```
    ///
    /// When the stream ends or breaks off, it is requested again after the time that the server has asked for, by default
    /// three seconds, with the last event's ID as `Last-Event-ID`. Each failure to connect in a row doubles that time, up to
    /// a minute. A response of 204 ends the events. Other responses than 200 with the type `text/event-stream` end them with
    /// an error, except those that say to try again later, such as 503.
    ///
    /// - Parameters:
    ///   - request: The request for the stream. Its `Accept` and its delivery are set.
    ///   - clock: The clock by which the pauses are measured; a manual one in tests.
    /// - Returns: A sequence that loads a request for each of its iterators. Cancelling the Swift task that reads, or
    ///   releasing the iterator, ends the request. It throws ``HTTPError``, after which there are no more events, or
    ///   `CancellationError` when the Swift task is cancelled.
    public func events(
        of request: HTTPRequest,
        clock: any Clock<Duration> = ContinuousClock()
    ) -> HTTPSequence<ServerSentEvent, any Error> {
        HTTPSequence { EventSource(of: request, over: self, clock: clock) }
    }
}

/// Reads the server-sent events of a resource.
struct EventSource: AsyncIteratorProtocol {
    private let request: HTTPRequest
    private var reconnection: Reconnection
    private var events: ServerSentEventIterator?
    private var lastEventID = ""

    init(of request: HTTPRequest, over loader: any HTTPLoader, clock: any Clock<Duration>) {
        self.request = request
        reconnection = Reconnection(of: loader, after: .seconds(3), clock: clock)
    }

    mutating func next() async throws -> ServerSentEvent? {
        while !reconnection.hasEnded {
            do {
                if events == nil { try await connect() }
                if let event = try await events?.next() { return event }
            } catch {
                try reconnection.failed(with: error)
            }
            lastEventID = events?.lastEventID ?? lastEventID
            reconnection.pause = events?.retry ?? reconnection.pause
            events = nil
        }
        return nil
    }

    private mutating func connect() async throws {
        var request = request
        request.headers["Accept"] = "text/event-stream"
        if !lastEventID.isEmpty { request.headers["Last-Event-ID"] = lastEventID }
        let stream = try await reconnection.connect(request, type: "text/event-stream")
        events = stream.map { .init($0, after: lastEventID) }
    }
}
