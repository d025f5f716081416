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
    ///   releasing the iterator, ends the request.
    public func events(of request: HTTPRequest, clock: any Clock<Duration> = ContinuousClock()) -> EventSource {
        EventSource(request: request, loader: self, clock: clock)
    }
}

/// The server-sent events of a resource. See ``HTTPLoader/events(of:clock:)``.
public struct EventSource: AsyncSequence, Sendable {
    /// An event.
    public typealias Element = ServerSentEvent

    let request: HTTPRequest
    let loader: any HTTPLoader
    let clock: any Clock<Duration>

    /// Returns an iterator that starts with a request of its own.
    public func makeAsyncIterator() -> Iterator { Iterator(self) }

    /// An iterator over the events of a resource.
    public struct Iterator: AsyncIteratorProtocol {
        private static let longestPause = Duration.seconds(60)

        private let source: EventSource
        private var events: HTTPBodyStream.ServerSentEvents.Iterator?
        private var lastEventID = ""
        private var retry = Duration.seconds(3)
        /// The pause before the next request; `nil` before the first.
        private var pause: Duration?
        private var failureCount = 0
        private var hasEnded = false

        init(_ source: EventSource) {
            self.source = source
        }

        /// Returns the next event; `nil` after a response of 204.
        ///
        /// - Throws: ``HTTPError``, after which there are no more events, or `CancellationError` when the Swift task is
        ///   cancelled.
        public mutating func next() async throws -> ServerSentEvent? {
            while !hasEnded {
                do {
                    if let event = try await nextOfStream() { return event }
                } catch {
                    guard let error = error as? HTTPError, error.isTransient, !_Concurrency.Task.isCancelled else {
                        hasEnded = true
                        throw error
                    }
                    if events == nil { failureCount += 1 }
                }
                endStream()
                let doubled = retry * (1 << Swift.min(failureCount, 20))
                pause = failureCount == 0 ? retry : Swift.min(doubled, Swift.max(retry, Self.longestPause))
            }
            return nil
        }

        /// Returns the next event of the stream under way, or of a new one; `nil` at its end.
        private mutating func nextOfStream() async throws -> ServerSentEvent? {
            if events == nil {
                if let pause { try await source.clock.sleep(for: pause) }
                guard let stream = try await connect() else { return nil }
                events = HTTPBodyStream.ServerSentEvents.Iterator(stream, after: lastEventID)
            }
            return try await events?.next()
        }

        private mutating func connect() async throws -> HTTPBodyStream? {
            var request = source.request
            request.delivery = .stream
            request.headers["Accept"] = "text/event-stream"
            request.headers["Cache-Control"] = "no-store"
            if !lastEventID.isEmpty { request.headers["Last-Event-ID"] = lastEventID }
            let response = try await source.loader.load(request).get()
            if response.status == .noContent {
                hasEnded = true
                return nil
            }
            guard response.status == .ok, response.mediaType == "text/event-stream", let stream = response.stream else {
                response.stream?.cancel()
                throw HTTPError(.invalidResponse, request: request, response: response, underlying: NoEventStream())
            }
            failureCount = 0
            return stream
        }

        private mutating func endStream() {
            if let events {
                lastEventID = events.lastEventID
                retry = events.retry ?? retry
            }
            events = nil
        }
    }
}

/// The underlying error of a response that is no event stream.
public struct NoEventStream: DisplayableError {
    /// One line for a log.
    public var description: String { "not a response of 200 with the type text/event-stream" }
}

extension HTTPResponse {
    /// The type of the body in lower case, without parameters: `application/json`.
    var mediaType: String? {
        headers["Content-Type"].map { type in
            type.prefix { $0 != ";" }.filter { !$0.isWhitespace }.lowercased()
        }
    }
}
