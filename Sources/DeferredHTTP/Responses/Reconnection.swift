import DeferredNetworking

/// The requests for a source without end, one after the other, and the pauses between them.
struct Reconnection: Sendable {
    private static let longestPause = Duration.seconds(60)

    /// The pause before the next request. Each failure to connect in a row doubles it.
    var pause: Duration

    /// True after the end of the source, and after an error.
    var hasEnded = false

    private let loader: any HTTPLoader
    private let clock: any Clock<Duration>
    /// The number of requests in a row that have brought no body.
    private var failureCount = 0
    private var isFirst = true

    init(of loader: any HTTPLoader, after pause: Duration, clock: any Clock<Duration>) {
        (self.loader, self.pause, self.clock) = (loader, pause, clock)
    }

    /// Loads a request, after a pause unless it is the first.
    ///
    /// - Parameter type: The type that a response of 200 has to have; nil for any.
    /// - Returns: The body; nil for a response of 204, by which the source ends.
    mutating func connect(_ request: HTTPRequest, type: String? = nil) async throws -> HTTPBodyStream? {
        if !isFirst {
            // One that is longer by itself, as a server may ask for, isn't doubled.
            let longest = Self.longestPause
            try await clock.sleep(for: pause < longest ? min(pause * (1 << min(failureCount, 20)), longest) : pause)
        }
        isFirst = false
        failureCount += 1
        var request = request
        request.delivery = .stream
        request.headers["Cache-Control"] = "no-store"
        let response = try await loader.load(request).get()
        hasEnded = response.status == .noContent
        if hasEnded { return nil }
        guard response.status == .ok, type == nil || response.mediaType == type, let stream = response.stream else {
            response.stream?.cancel()
            let reason = Self.reason(response, type)
            throw HTTPError(.invalidResponse, request: request, response: response, reason: reason)
        }
        failureCount = 0
        return stream
    }

    private static func reason(_ response: HTTPResponse, _ type: String?) -> String {
        if response.status != .ok { return "the status is \(response.status.code) instead of 200" }
        if let type, response.mediaType != type { return "the body has \(response.shownType) instead of \(type)" }
        return "the response is no stream; a loader has to heed the delivery of its request"
    }

    /// Handles an error of a request or of its body.
    ///
    /// - Throws: `error`, unless another request may succeed; `CancellationError` if the Swift task was cancelled. That
    ///   ends the source.
    mutating func failed(with error: any Error) throws {
        hasEnded = true
        // The cancelled request fails with an error of its own, before or after the head.
        if _Concurrency.Task.isCancelled { throw CancellationError() }
        guard let known = error as? HTTPError, known.isTransient else { throw error }
        hasEnded = false
    }
}
