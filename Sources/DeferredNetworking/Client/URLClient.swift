internal import DeferredCore
public import DeferredTask
public import Foundation

#if canImport(FoundationNetworking)
public import FoundationNetworking
#endif

/// An HTTP client for services: one long-lived engine with limits, deadlines, retries and credentials.
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
/// the deadlines itself, and they end a task even when the engine doesn't respond.
///
/// **Thread safety:** all members are safe to use from any thread, and none of them blocks.
/// **Lifetime:** requests retain the parts of the client that they need. When the last reference to the client is
/// released, running requests still finish; then its connections are closed.
///
/// On Linux, requests go out over libcurl unless the configuration needs a session; ``engine`` says which it is. Over
/// libcurl a client has what URLSession lacks there: back pressure, metrics, pinned or private certificates, client
/// certificates, a choice of the TLS or HTTP version, IPv6 addresses as hosts, more than some 4,000 requests per second
/// in a process, and safety from malicious servers.
public final class URLClient: Sendable {
    package let transport: Transport

    /// Those of the configuration.
    private let policies: RequestPolicies

    /// Creates a client with an engine of its own.
    ///
    /// - Parameter configuration: The settings, which are copied; later changes to its parts have no effect.
    public init(configuration: Configuration = .default) {
        transport = Transport(configuration)
        policies = RequestPolicies(
            retries: configuration.retries,
            authentication: configuration.authentication,
            validation: configuration.validation
        )
    }

    /// The engine that sends the requests, and why it was chosen: a line for a log.
    ///
    /// For example "libcurl 8.14.1", "URLSession: protocolClasses has 1 class", or, if each request fails with
    /// ``URLClientError/Code/engineUnavailable(reason:)`` because there is no such engine, "none: " and the reason.
    public var engine: String { transport.engineDescription }

    deinit {
        transport.close()
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
    ///   It fails with ``URLClientError/Code/invalidRequest(reason:)`` for a request that can't be sent,
    ///   ``URLClientError/Code/unacceptableStatus(code:body:)`` unless the configuration accepts the status,
    ///   ``URLClientError/Code/bodyTooLarge(limit:)``, ``URLClientError/Code/truncatedBody(received:expected:)`` for a body cut
    ///   short, ``URLClientError/Code/deadlineExceeded`` for the total deadline and `URLError.timedOut` for the other ones,
    ///   ``URLClientError/Code/shutDown`` after a shutdown, and otherwise with a `URLError` that has the failing URL.
    public func begin(_ request: URLRequest, options: RequestOptions = .init()) -> Task<(Data, ResponseHead)> {
        begin(request, .inRequest, counting: .received, options)
    }

    /// Begins a `GET` request. See ``begin(_:options:)-(URLRequest,_)``.
    public func begin(_ url: URL, options: RequestOptions = .init()) -> Task<(Data, ResponseHead)> {
        begin(URLRequest(url: url), options: options)
    }

    /// Begins a request, and reports the progress of the body in one direction.
    func begin(
        _ request: URLRequest,
        _ body: CheckedRequest.Body,
        counting direction: BodyProgress.Direction,
        _ options: RequestOptions,
        resuming resumable: ResumableBody? = nil
    ) -> Task<(Data, ResponseHead)> {
        transport.gather(
            request,
            { () throws(URLClientError) in try CheckedRequest(request, body: body, hasCache: transport.hasCache) },
            options: options,
            policies: policies(options),
            counting: direction,
            resuming: resumable,
            in: ProgressReporter(unit: .bytes)
        )
    }

    func policies(_ options: RequestOptions) -> RequestPolicies {
        if case (nil, nil) = (options.retries, options.validation) { return policies }
        return RequestPolicies(
            retries: options.retries ?? policies.retries,
            authentication: policies.authentication,
            validation: options.validation ?? policies.validation
        )
    }
}
