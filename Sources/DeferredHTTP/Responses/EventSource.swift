public import DeferredNetworking

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
    /// three seconds and at least 100 ms, with the last event's ID as `Last-Event-ID`. Each failure to connect in a row doubles
    /// that time, up to a minute, for which a `Retry-After` can ask, too. A response of 204 ends the events. Other responses
    /// than 200 with the type `text/event-stream` end them with an error, except those that say to try again later, such as
    /// 503.
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
        HTTPSequence { Reconnection(of: EventSource(original: request), over: self, clock: clock) }
    }
}

extension ServerSentEventIterator: ValueReader {}

/// The server-sent events of a resource.
struct EventSource: EndlessSource {
    static let mediaType: String? = "text/event-stream"

    /// A server that asks for none, and ends each stream at once, is not to be asked without end.
    private static let shortestPause = Duration.milliseconds(100)

    let original: HTTPRequest
    private(set) var pause = Duration.seconds(3)
    private var lastEventID = ""

    init(original: HTTPRequest) { self.original = original }

    func request(after last: ServerSentEvent?) -> HTTPRequest? {
        var request = original
        request.headers["Accept"] = Self.mediaType
        if !lastEventID.isEmpty { request.headers["Last-Event-ID"] = lastEventID }
        return request
    }

    func read(_ stream: HTTPBodyStream, of request: HTTPRequest) -> ServerSentEventIterator {
        ServerSentEventIterator(stream, after: lastEventID)
    }

    mutating func ended(_ body: ServerSentEventIterator) {
        lastEventID = body.lastEventID
        pause = max(body.retry ?? pause, Self.shortestPause)
    }
}
