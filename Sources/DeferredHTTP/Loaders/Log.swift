internal import DeferredCore
public import Foundation

/// Tells what happens to each request: its beginning, its attempts, its response and its end.
///
/// ```swift
/// let chain = Log { logger.info("\($0)") } --> URLSessionLoader()
/// // GET https://host/path?token=…: 200 OK, 345 bytes, 0.012 seconds
/// ```
///
/// This writes a line for each request when it ends; ``events(clock:_:)`` tells every step as an ``Event``. Credentials
/// don't appear in descriptions: see ``HTTPError``. Where the loader stands in a chain decides what counts:
/// before ``Retry``, a request ends once, and its attempts are told; behind it, each attempt begins and ends.
///
/// A response that is a stream ends when its body has ended, with the bytes that were read.
public struct Log: HTTPLink {
    /// The next loader, set by `-->`.
    public var next: (any HTTPLoader)?
    private let clock: any Clock<Duration>
    private let tell: @Sendable (Event) -> Void

    /// Creates a loader that writes a line for each request when it ends.
    ///
    /// - Parameters:
    ///   - clock: The clock by which the time is measured.
    ///   - write: Takes each line, on the thread that completes the request. By default, prints it.
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

    /// A loader that tells all events.
    ///
    /// ```swift
    /// let chain = Log.events { logger.debug("\($0)") } --> Retry() --> URLSessionLoader()
    /// ```
    ///
    /// - Parameters:
    ///   - clock: The clock by which the time is measured.
    ///   - tell: Takes each event, on the thread where it happens, which it must not block. The events of one request
    ///     come in order. Kept as long as the loader.
    public static func events(
        clock: any Clock<Duration> = ContinuousClock(),
        _ tell: @escaping @Sendable (Event) -> Void
    ) -> Log {
        Log(clock, tell)
    }

    /// Passes the task on, and tells what happens to it.
    public func load(_ task: HTTPTask) {
        let stopwatch = Stopwatch(clock)
        let (identity, request, tell) = (task.execution.identity, task.request, tell)
        let note: @Sendable (Event.Kind) -> Void = { kind in
            tell(Event(identity: identity, request: request, elapsed: stopwatch.elapsed, kind: kind))
        }
        note(.began)
        task.execution.watch { [weak execution = task.execution] news in
            // A log behind a retry sees one attempt: the next is not its own.
            guard let execution, !execution.isComplete else { return }
            switch news {
            case .attempt(let number): note(.attempt(number))
            case .response(let status): note(.response(status))
            }
        }
        task.addCompletionHandler { result in
            guard case .success(let response) = result else { return note(.ended(result, byteCount: 0)) }
            note(.response(response.status))
            guard let stream = response.stream else {
                return note(.ended(result, byteCount: response.body.count))
            }
            // Without the body, which would otherwise never be known to be dropped.
            let head = HTTPResponse(
                request: response.request,
                status: response.status,
                headers: response.headers,
                url: response.url
            )
            stream.addEndHandler { [counter = stream.counter] error in
                let result: HTTPResult = error.map { .failure(HTTPError($0, request: request)) } ?? .success(head)
                note(.ended(result, byteCount: counter.byteCount))
            }
        }
        task.pass(to: next)
    }
}

extension Log {
    /// Something that has happened to a request.
    public struct Event: Sendable, CustomStringConvertible {
        /// The kinds of events.
        public enum Kind: Sendable {
            /// The request came to this loader.
            case began

            /// A ``Retry`` behind this loader begins an attempt, counted from 1.
            case attempt(Int)

            /// A response has come: that of an attempt which is followed by another one, or the last.
            case response(HTTPStatus)

            /// The request is complete, and a response's body was read or is in memory.
            ///
            /// - Parameter byteCount: How many bytes of the body came; 0 for one in a file.
            case ended(HTTPResult, byteCount: Int)
        }

        let identity: Identity

        /// Tells this request from others that are under way: the ``HTTPTask/id`` of its task.
        public var id: UUID { identity.uuid }

        /// The request, as it came to this loader.
        public let request: HTTPRequest

        /// The time since it came to this loader.
        public let elapsed: Duration

        /// The kind of the event.
        public let kind: Kind

        /// One line for a log, without credentials.
        public var description: String {
            switch kind {
            case .began: "\(request): began"
            case .attempt(let number): "\(request): attempt \(number), \(elapsed)"
            case .response(let status): "\(request): response \(status), \(elapsed)"
            case .ended(.success(let response), let count):
                "\(request): \(response.status), "
                    + (response.file == nil ? "\(count) bytes" : response.bodyDescription) + ", \(elapsed)"
            case .ended(.failure(let error), _): "\(error), \(elapsed)"
            }
        }
    }
}
