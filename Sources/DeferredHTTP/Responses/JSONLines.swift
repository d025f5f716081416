public import DeferredNetworking
public import Foundation

extension HTTPLoader {
    /// Returns the values of a resource that sends a line of JSON for each, without end: a watch of etcd or Kubernetes.
    ///
    /// ```swift
    /// let changes = chain.jsonLines(of: Change.self) { last in
    ///     var request = HTTPRequest(path: "/changes", query: [.init(name: "after", value: last?.revision ?? "0")])
    ///     request.timeout = .noLimit
    ///     return request
    /// }
    /// for try await change in changes { handle(change) }
    /// ```
    ///
    /// When the body ends or breaks off, the next request is loaded after a pause of a second. Each failure to connect in a
    /// row doubles that, up to a minute. A last line that broke off is left out. The values end with a response of 204, and
    /// when `request` returns `nil`. Other responses than 200 end them with an error, except those that say to try again
    /// later, such as 503.
    ///
    /// - Parameters:
    ///   - type: The type of the values.
    ///   - decoder: The decoder of a line. Empty lines are left out.
    ///   - limit: The most bytes of a line; see ``DeferredNetworking/HTTPBodyStream/lines(upTo:)``.
    ///   - clock: The clock by which the pauses are measured; a manual one in tests.
    ///   - request: Returns the request for the values that come after this one, which is `nil` for the first request, or
    ///     `nil` to end. Its delivery is set.
    /// - Returns: A sequence that loads a request for each of its iterators. Cancelling the Swift task that reads, or
    ///   releasing the iterator, ends the request. It throws ``HTTPError``, with the code ``HTTPError/Code/cannotDecode``
    ///   and the line as its response's body for a line that is no value,
    ///   ``DeferredNetworking/URLClientError/Code/lineTooLong(limit:)``, errors of the closure for the request, or
    ///   `CancellationError` when the Swift task is cancelled. There are no more values then.
    public func jsonLines<Value: Decodable & Sendable>(
        of type: Value.Type = Value.self,
        decoder: JSONDecoder = JSONDecoder(),
        upTo limit: Int = 16 << 20,
        clock: any Clock<Duration> = ContinuousClock(),
        from request: @escaping @Sendable (_ last: Value?) throws -> HTTPRequest?
    ) -> HTTPSequence<Value, any Error> {
        HTTPSequence {
            Reconnection(of: JSONLines(decoder: decoder, limit: limit, next: request), over: self, clock: clock)
        }
    }
}

/// The values of a resource that sends a line of JSON for each.
struct JSONLines<Value: Decodable & Sendable>: EndlessSource {
    static var mediaType: String? { nil }

    let decoder: JSONDecoder
    let limit: Int
    let next: @Sendable (Value?) throws -> HTTPRequest?

    var pause: Duration { .seconds(1) }

    func request(after last: Value?) throws -> HTTPRequest? { try next(last) }

    func read(_ stream: HTTPBodyStream, of request: HTTPRequest) -> Body {
        Body(lines: LineIterator(stream.makeAsyncIterator(), upTo: limit), decoder: decoder, request: request)
    }

    func ended(_ body: Body) {}

    struct Body: ValueReader {
        var lines: LineIterator
        let decoder: JSONDecoder
        let request: HTTPRequest

        mutating func next() async throws -> Value? {
            while let line = try await lines.next() {
                // The last line, which has no end, may be less than one.
                if lines.hasEnded { return try? decode(line) }
                if !line.allSatisfy(\.isWhitespace) { return try decode(line) }
            }
            return nil
        }

        private func decode(_ line: String) throws -> Value {
            do {
                return try decoder.decode(Value.self, from: Data(line.utf8))
            } catch {
                let response = HTTPResponse(request: request, status: .ok, body: Data(line.utf8))
                throw HTTPError(.cannotDecode, request: request, response: response, underlying: error)
            }
        }
    }
}
