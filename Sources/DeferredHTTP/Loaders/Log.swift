internal import DeferredCore
public import Foundation

/// Reports the events of each request: its start, its attempts, its response and its end.
///
/// ```swift
/// let chain = Log { logger.info("\($0)") } --> URLSessionLoader()
/// // GET https://host/path?token=…: 200 OK, 345 bytes, 0.012 seconds
/// ```
///
/// This writes a line for each request when it ends; ``events(clock:_:)`` reports every step as an ``Event``.
/// Credentials don't appear in descriptions: see ``HTTPError``. The position in the chain matters: before ``Retry``, a
/// request ends once, and its attempts are reported; after it, each attempt begins and ends.
///
/// A request whose response is a stream ends when the body has ended, and its byte count is that of the bytes read.
public struct Log: HTTPLink {
    private let clock: any Clock<Duration>
    private let tell: @Sendable (Event) -> Void

    /// Creates a loader that writes a line for each request when it ends.
    ///
    /// - Parameters:
    ///   - clock: The clock by which the time is measured.
    ///   - write: Called with each line, on the thread that completes the request. By default, prints the line.
    public init(
        clock: any Clock<Duration> = ContinuousClock(),
        _ write: @escaping @Sendable (String) -> Void = { print($0) }
    ) {
        self.init(clock, { if case .ended = $0.kind { write($0.description) } })
    }

    private init(_ clock: any Clock<Duration>, _ tell: @escaping @Sendable (Event) -> Void) {
        self.clock = clock
        self.tell = tell
    }

    /// Creates a loader that reports all events.
    ///
    /// ```swift
    /// let chain = Log.events { logger.debug("\($0)") } --> Retry() --> URLSessionLoader()
    /// ```
    ///
    /// - Parameters:
    ///   - clock: The clock by which the time is measured.
    ///   - tell: Called with each event, on the thread where the event happens, which it must not block. The events of
    ///     one request come in order. Kept as long as the loader.
    public static func events(
        clock: any Clock<Duration> = ContinuousClock(),
        _ tell: @escaping @Sendable (Event) -> Void
    ) -> Log {
        Log(clock, tell)
    }

    /// Passes the task on, and reports its events.
    public func load(_ task: HTTPTask, next: any HTTPLoader) {
        let stopwatch = Stopwatch(clock)
        let (identity, request, tell) = (task.execution.identity, task.request, tell)
        let note: @Sendable (Event.Kind) -> Void = { kind in
            tell(Event(identity: identity, request: request, elapsed: stopwatch.elapsed, kind: kind))
        }
        note(.began)
        task.execution.watch(note)
        task.execution.whenEnded { result in
            if let response = result.arrived {
                if let (age, isConfirmed) = response.source.use { note(.cached(age: age, isConfirmed: isConfirmed)) }
                note(.response(response.status))
            }
            guard case .success(let response) = result else { return note(.ended(result, byteCount: 0)) }
            guard let stream = response.stream else {
                return note(.ended(result, byteCount: response.body.count))
            }
            // Without the body: keeping the stream would hide that nobody reads it any more.
            let head = response.with(body: .data(Data()))
            stream.addEndHandler { end in
                let result: HTTPResult = end.error.map { .failure(HTTPError($0, request: request)) } ?? .success(head)
                note(.ended(result, byteCount: end.byteCount))
            }
        }
        task.pass(to: next)
    }
}

extension Log {
    /// An event in the life of a request.
    public struct Event: Sendable, CustomStringConvertible {
        /// The kinds of events.
        public enum Kind: Sendable {
            /// The request reached this loader.
            case began

            /// A ``Retry`` after this loader starts an attempt, counted from 1.
            case attempt(Int)

            /// The response that comes next is from a ``DeferredCache/Cache``.
            ///
            /// - Parameters:
            ///   - age: The time since the server made or confirmed it.
            ///   - isConfirmed: Whether the server was asked, and has confirmed that the stored response is still right.
            case cached(age: Duration, isConfirmed: Bool)

            /// A response has arrived: the last one, or that of an attempt which is followed by another one.
            case response(HTTPStatus)

            /// The request is complete, and the body of its response has been read or is in memory.
            ///
            /// - Parameter byteCount: The number of bytes of the body; 0 for a body in a file.
            case ended(HTTPResult, byteCount: Int)
        }

        let identity: Identity

        /// The identifier of the request as its caller loaded it: the ``HTTPTask/id`` of the task that `load` returned.
        ///
        /// Every loader of a chain reports the same, also for each attempt, and so do the events of the client at its end,
        /// as ``DeferredNetworking/URLClient/Event/task``: adapters for logs, metrics and tracing can put all events with one
        /// identifier together. What a ``Deduplicate`` shares has the identifier of the first request.
        public var id: UUID { identity.uuid }

        /// The request as it reached this loader.
        public let request: HTTPRequest

        /// The time since the request reached this loader.
        public let elapsed: Duration

        /// The kind of the event.
        public let kind: Kind

        /// One line for a log, without credentials.
        public var description: String {
            switch kind {
            case .began: "\(request): began"
            case .attempt(let number): "\(request): attempt \(number), \(elapsed)"
            case .cached(let age, let isConfirmed):
                "\(request): \(isConfirmed ? "confirmed" : "from the cache"), age \(age), \(elapsed)"
            case .response(let status): "\(request): response \(status), \(elapsed)"
            case .ended(.success(let response), let count):
                "\(request): \(response.status), "
                    + (response.file == nil ? "\(count) bytes" : response.bodyDescription) + response.source.words
                    + ", \(elapsed)"
            case .ended(.failure(let error), _): "\(error), \(elapsed)"
            }
        }
    }
}

extension HTTPResponse.Source {
    /// The age of a response from a cache, and whether the server has just confirmed it.
    package var use: (age: Duration, isConfirmed: Bool)? {
        switch self {
        case .network: nil
        case .cache(let age, _): (age, false)
        case .validated(let age): (age, true)
        }
    }

    /// The source in a line, after the other properties of a response; empty for the network.
    fileprivate var words: String {
        switch self {
        case .network: ""
        case .cache(let age, isStale: false): ", from the cache, age \(age)"
        case .cache(let age, isStale: true): ", from the cache, stale, age \(age)"
        case .validated: ", from the cache, confirmed"
        }
    }
}
