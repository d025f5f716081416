internal import DeferredCore
public import DeferredTask
public import Foundation

#if canImport(FoundationNetworking)
public import FoundationNetworking
#endif

/// An HTTP client for services: one long-lived session with limits, deadlines, retries and credentials.
///
/// Reach for it where a process makes many requests over a long time. For an occasional request,
/// ``DeferredNetworking/Foundation/URLSession/beginDataTask(with:configure:)-(URLRequest,_)`` on your own session is
/// enough.
///
/// ```swift
/// var configuration = URLClient.Configuration()
/// configuration.deadlines.total = .seconds(5)
/// configuration.authentication = .bearer(token, when: .always)
/// let client = URLClient(configuration: configuration)
/// let user = client.decode(User.self, from: URLRequest(url: url))
/// user.uponSuccess(on: .main) { show($0) }
/// ```
///
/// Each request ends exactly once, with a value or an error, whatever the server and the session do: the client keeps
/// the deadlines itself, and they end a task even when the session doesn't respond.
///
/// **Thread safety:** all members are safe to use from any thread, and none of them blocks.
/// **Lifetime:** requests retain the parts of the client that they need. When the last reference to the client is
/// released, running requests still finish; then the session is invalidated and its connections are closed.
///
/// On Linux, choose ``Configuration/Engine/libcurl`` for features that URLSession lacks there: back pressure, metrics,
/// pinned or private certificates, client certificates, a choice of the TLS or HTTP version, IPv6 addresses as hosts,
/// and more than some 4,000 requests per second in a process. It is also safe from malicious servers, which can crash a
/// process that uses a session with a trailer field or the length 2⁶³−1, and can freeze it with tens of thousands of
/// header lines.
public final class URLClient: Sendable {
    let core: ClientCore

    /// Creates a client with a new session.
    ///
    /// - Parameter configuration: The settings, which are copied; later changes to its parts have no effect.
    public init(configuration: Configuration = .default) {
        core = ClientCore(configuration)
    }

    deinit {
        core.close()
    }

    /// Begins a request, and succeeds with its body and response when they are complete.
    ///
    /// - Parameters:
    ///   - request: The request, which is checked before anything is sent. Its `timeoutInterval`, unless it is
    ///     Foundation's default of 60 seconds, replaces the idle deadline of the configuration, and may be a fraction
    ///     of a second.
    ///   - options: Settings for this request only.
    /// - Returns: A task that has begun, or that waits in the queue if the client limits the requests in flight. Its
    ///   progress counts the bytes of the body. Cancelling it fails it at once with `URLError.cancelled` and stops the
    ///   transfer.
    ///
    ///   It fails with ``URLClientError/invalidRequest(reason:)`` for a request that can't be sent,
    ///   ``URLClientError/unacceptableStatus(code:body:)`` unless the configuration accepts the status,
    ///   ``URLClientError/bodyTooLarge(limit:)``, ``URLClientError/truncatedBody(received:expected:)`` for a body cut
    ///   short, ``URLClientError/deadlineExceeded`` for the total deadline and `URLError.timedOut` for the other ones,
    ///   ``URLClientError/shutDown`` after a shutdown, and otherwise with a `URLError` that has the failing URL.
    public func begin(_ request: URLRequest, options: RequestOptions = .init()) -> Task<(Data, HTTPURLResponse)> {
        gather(.unchecked(request), options: options, counting: .received, in: ProgressReporter(unit: .bytes)) {
            ($0, try $1.httpResponse())
        }
    }

    /// Begins a `GET` request. See ``begin(_:options:)-(URLRequest,_)``.
    public func begin(_ url: URL, options: RequestOptions = .init()) -> Task<(Data, HTTPURLResponse)> {
        begin(URLRequest(url: url), options: options)
    }

    /// Begins a request whose response is gathered in memory, and reports the progress of the body in one direction.
    ///
    /// - Parameter make: Makes the result of the body and its head.
    package func gather<Value: Sendable>(
        _ request: SubmittedRequest,
        options: RequestOptions,
        counting direction: BodyProgress.Direction,
        in reporter: ProgressReporter,
        as make: @escaping @Sendable (Data, ResponseHead) throws -> Value
    ) -> Task<Value> {
        let limit = core.configuration.maximumBodySize
        return core.begin(request, options: options, reporter: reporter) { attempt in
            let sink = DataSink(limit: limit, onProgress: reporter.counting(direction)) { result in
                attempt.end(
                    with: Result {
                        let (body, head) = try result.get()
                        return try make(body, head)
                    }
                )
            }
            let transfer = attempt.transfer(
                attempt.request,
                AttemptSink(sink, attempt, validation: attempt.validation)
            )
            return { transfer.abort(with: $0) }
        }
    }
}
