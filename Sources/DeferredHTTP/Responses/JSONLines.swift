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
    private var pieces: HTTPBodyStream.Iterator?
    private var splitter: LineSplitter
    private var current: HTTPRequest?
    private var last: Value?
    private var hasEnded = false

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
        splitter = LineSplitter(limit: limit)
    }

    mutating func next() async throws -> Value? {
        do {
            while !hasEnded {
                do {
                    if pieces == nil { try await connect() }
                    if let value = try await nextOfBody() {
                        last = value
                        return value
                    }
                } catch {
                    try reconnection.failed(with: error)
                }
                pieces = nil
            }
            return nil
        } catch {
            (hasEnded, pieces) = (true, nil)
            throw error
        }
    }

    private mutating func connect() async throws {
        splitter = LineSplitter(limit: limit)
        current = try request(last)
        guard let current else { return hasEnded = true }
        let stream = try await reconnection.connect(current)
        pieces = stream?.makeAsyncIterator()
        hasEnded = stream == nil
    }

    /// Returns the next value of the body under way; nil at its end.
    private mutating func nextOfBody() async throws -> Value? {
        while true {
            while let line = try splitter.next() {
                if line.allSatisfy(\.isWhitespace) { continue }
                return try decode(line)
            }
            guard let piece = try await pieces?.next() else {
                // The last line, which has no end, may be less than one.
                return splitter.rest().flatMap { try? decode($0) }
            }
            splitter.append(piece)
        }
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
