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
            JSONLines(Reconnection(of: self, after: .seconds(1), clock: clock), decoder, upTo: limit, from: request)
        }
    }
}

/// Reads the values of a resource that sends a line of JSON for each.
struct JSONLines<Value: Decodable & Sendable>: AsyncIteratorProtocol {
    private var reconnection: Reconnection
    private let decoder: JSONDecoder
    private let limit: Int
    private let request: @Sendable (Value?) throws -> HTTPRequest?
    private var lines: LineIterator?
    private var current: HTTPRequest?
    private var last: Value?

    init(
        _ reconnection: Reconnection,
        _ decoder: JSONDecoder,
        upTo limit: Int,
        from request: @escaping @Sendable (Value?) throws -> HTTPRequest?
    ) {
        self.reconnection = reconnection
        self.decoder = decoder
        self.limit = limit
        self.request = request
    }

    mutating func next() async throws -> Value? {
        while !reconnection.hasEnded {
            if lines == nil { current = try nextRequest() }
            guard let current else { return nil }
            do {
                if lines == nil { try await connect(current) }
                if let value = try await nextOfBody() {
                    last = value
                    return value
                }
                lines = nil
            } catch {
                lines = nil
                try reconnection.failed(with: error)
            }
        }
        return nil
    }

    /// Asks for the request for the next values; nil, or an error of any kind, is the end of all.
    private mutating func nextRequest() throws -> HTTPRequest? {
        reconnection.hasEnded = true
        guard let next = try request(last) else { return nil }
        reconnection.hasEnded = false
        return next
    }

    private mutating func connect(_ request: HTTPRequest) async throws {
        let stream = try await reconnection.connect(request)
        lines = stream.map { LineIterator($0.makeAsyncIterator(), upTo: limit) }
    }

    /// Returns the next value of the body under way; nil at its end.
    private mutating func nextOfBody() async throws -> Value? {
        while let line = try await lines?.next() {
            // The last line, which has no end, may be less than one.
            if lines?.hasEnded == true { return try? decode(line) }
            if !line.allSatisfy(\.isWhitespace) { return try decode(line) }
        }
        return nil
    }

    private func decode(_ line: String) throws -> Value {
        do {
            return try decoder.decode(Value.self, from: Data(line.utf8))
        } catch {
            guard let current else { throw error }
            let response = HTTPResponse(request: current, status: .ok, body: Data(line.utf8))
            throw HTTPError(.cannotDecode, request: current, response: response, underlying: error)
        }
    }
}
