import DeferredNetworking

/// Reads the values of one body.
protocol ValueReader<Value> {
    associatedtype Value

    /// Returns the next value; nil at the end.
    mutating func next() async throws -> Value?
}

/// A source without end, whose values come in one body after the other.
protocol EndlessSource {
    associatedtype Body: ValueReader

    /// The type that a response of 200 has to have; nil for any.
    static var mediaType: String? { get }

    /// The pause before the next request. Each failure to connect in a row doubles it.
    var pause: Duration { get }

    /// Returns the request for what comes after a value; nil for the end of the source.
    func request(after last: Body.Value?) throws -> HTTPRequest?

    /// Begins to read a body.
    func read(_ stream: HTTPBodyStream, of request: HTTPRequest) -> Body

    /// Remembers what a body has left for the next request.
    mutating func ended(_ body: Body)
}

/// Loads the requests of a source without end, one after the other, with pauses between them, and reads their bodies.
struct Reconnection<Source: EndlessSource>: AsyncIteratorProtocol {
    private var source: Source
    private let loader: any HTTPLoader
    private let clock: any Clock<Duration>
    private var body: Source.Body?
    private var last: Source.Body.Value?
    /// The number of requests in a row that have brought no body.
    private var failureCount = 0
    /// The time that the response to the last of them asks for.
    private var askedPause: Duration?
    private var isFirst = true
    /// True after the end of the source, and after an error.
    private var hasEnded = false

    init(of source: Source, over loader: any HTTPLoader, clock: any Clock<Duration>) {
        self.source = source
        self.loader = loader
        self.clock = clock
    }

    mutating func next() async throws -> Source.Body.Value? {
        while !hasEnded {
            var request: HTTPRequest?
            if body == nil {
                // An error of the source is the end, of whatever kind it is.
                hasEnded = true
                request = try source.request(after: last)
                hasEnded = request == nil
            }
            do {
                if let request { body = try await connect(request) }
                if let value = try await body?.next() {
                    last = value
                    return value
                }
                leaveBody()
            } catch {
                leaveBody()
                try failed(with: error)
            }
        }
        return nil
    }

    /// Lets go of the body under way, which ends its request.
    private mutating func leaveBody() {
        if let body = body.take() { source.ended(body) }
    }

    /// Loads a request, after a pause unless it is the first; returns nil for a response of 204, by which the source ends.
    private mutating func connect(_ request: HTTPRequest) async throws -> Source.Body? {
        if !isFirst {
            let (pause, longest) = (source.pause, Duration.seconds(60))
            // One that is longer by itself, as a server may ask for, isn't doubled.
            let chosen = pause < longest ? min(pause * (1 << min(failureCount, 20)), longest) : pause
            try await clock.sleep(for: max(chosen, min(askedPause ?? .zero, longest)))
        }
        isFirst = false
        askedPause = nil
        failureCount += 1
        var request = request
        request.delivery = .stream
        request.headers["Cache-Control"] = "no-store"
        let response = try await loader.load(request).get()
        hasEnded = response.status == .noContent
        if hasEnded { return nil }
        let reason = Self.reason(response)
        guard reason == nil, let stream = response.stream else {
            response.stream?.cancel()
            throw HTTPError(.invalidResponse, request: request, response: response, reason: reason)
        }
        failureCount = 0
        return source.read(stream, of: request)
    }

    /// The reason why a response can't be read; nil if it can.
    private static func reason(_ response: HTTPResponse) -> String? {
        if response.status != .ok { return "the status is \(response.status.code) instead of 200" }
        if let type = Source.mediaType, response.mediaType != type {
            return "the body has \(response.shownType) instead of \(type)"
        }
        if response.stream != nil { return nil }
        return "the response is no stream; a loader has to heed the delivery of its request"
    }

    /// Handles an error of a request or of its body.
    ///
    /// - Throws: `error`, unless another request may succeed; `CancellationError` if the Swift task was cancelled. That
    ///   ends the source.
    private mutating func failed(with error: any Error) throws {
        hasEnded = true
        // The cancelled request fails with an error of its own, before or after the head.
        if _Concurrency.Task.isCancelled { throw CancellationError() }
        guard let known = error as? HTTPError, known.isTransient else { throw error }
        hasEnded = false
        askedPause = known.response?.retryAfter
    }
}
