public import DeferredTask
public import Foundation

#if canImport(FoundationNetworking)
public import FoundationNetworking
#endif

extension URLSession {
    /// Begins a request, and succeeds with its body and response when they are complete.
    ///
    /// ```swift
    /// let user = URLSession.shared.beginDataTask(with: url).map { data, _ in
    ///     try JSONDecoder().decode(User.self, from: data)
    /// }
    /// ```
    ///
    /// Any HTTP status is a success, as in Foundation; a body that is shorter than its `Content-Length` is not.
    ///
    /// Redirects are followed as in browsers: `301` and `302` turn a `POST` into a `GET`, `303` everything but `HEAD`;
    /// `307` and `308` keep method and body. Headers that ``Redaction`` takes for secrets, such as `Authorization`, don't
    /// cross origins. A delegate that `configure` gives the task, or else the session's own, decides about redirects and
    /// challenges; without one, a `401` is delivered as the response.
    ///
    /// On Linux, the request runs over libcurl with the headers, cookies, time-outs and connections per host of this
    /// session's configuration as it is at the first request. It runs over a private session with that configuration if
    /// there is a `configure` closure, if this session has a delegate or protocol classes, or if libcurl is missing or
    /// older than 7.68. In both cases it is protected from traps in the platform's implementation, doesn't appear among
    /// the tasks of this session, and is not stopped by its invalidation. On Apple's platforms, the request runs on this session, which must not
    /// have been invalidated, as for its own methods; only if the session calls its delegate on the main queue, the
    /// request runs on a private session, so that the main thread neither writes files nor is waited for. A background
    /// session fails it with ``URLClientError/Code/engineUnavailable(reason:)``.
    ///
    /// - Parameters:
    ///   - request: The request, which is checked before anything is sent. Its time-out replaces that of the session
    ///     unless it is Foundation's default of 60 seconds; over a session on Linux, it is rounded up to whole seconds.
    ///   - configure: A closure that is called with each platform task before it starts, on a private queue: to set its
    ///     priority, description or delegate; `nil` to leave the choice of the engine to the library. On Linux, a redirect or an answered challenge creates another task. The
    ///     closure must not resume, suspend or cancel the task.
    /// - Returns: A task that is already running. Its progress counts the bytes of the body. Cancelling it fails it at
    ///   once with `URLError.cancelled`, and stops the transfer.
    ///
    ///   It fails with ``URLClientError/Code/invalidRequest(reason:)``, which names the value, for a request that can't be
    ///   sent (no absolute HTTP URL, control characters, an infinite time-out, a body on `GET`); with
    ///   ``URLClientError/Code/truncatedBody(received:expected:)`` for a body cut short; and otherwise with a `URLError`
    ///   that has the failing URL.
    public func beginDataTask(
        with request: URLRequest,
        configure: (@Sendable (URLSessionTask) -> Void)? = nil
    ) -> Task<(Data, URLResponse)> {
        begin(request, counting: .received, configure: configure)
    }

    /// Begins a `GET` request. See ``beginDataTask(with:configure:)-(URLRequest,_)``.
    public func beginDataTask(
        with url: URL,
        configure: (@Sendable (URLSessionTask) -> Void)? = nil
    ) -> Task<(Data, URLResponse)> {
        beginDataTask(with: URLRequest(url: url), configure: configure)
    }

    /// Begins a request whose response is gathered in memory, and reports the progress of the body in one direction.
    func begin(
        _ request: URLRequest,
        body: CheckedRequest.Body = .inRequest,
        counting direction: BodyProgress.Direction,
        configure: EngineTaskConfiguration?
    ) -> Task<(Data, URLResponse)> {
        begin(request, body: body, configure: configure) { reporter in
            DataReceiver(onProgress: reporter.counting(direction))
        } result: { response in
            (response.data.body, response.data.head.urlResponse)
        }
    }

    /// Begins a request whose result is made from what its receiver gets.
    func begin<Value: Sendable>(
        _ request: URLRequest,
        body: CheckedRequest.Body = .inRequest,
        configure: EngineTaskConfiguration?,
        to makeReceiver: (ProgressReporter) -> any ResponseReceiver,
        result makeValue: @escaping @Sendable (ReceivedResponse) -> Value
    ) -> Task<Value> {
        let decider = SessionDelegateDecider(self, configures: configure != nil)
        let retained = retainedEngine(for: decider, configure)
        let checked: CheckedRequest
        do throws(URLClientError) {
            try BackgroundSessions.refuse(configuration)
            checked = try CheckedRequest(request, body: body).fitted(to: retained.engine)
        } catch {
            return .failure(error.about(request.url))
        }
        let promise = Task<Value>.Promise()
        let reporter = ProgressReporter(unit: .bytes)
        let exchange = Exchange.begin(
            checked,
            on: retained,
            .init(configure: configure),
            delegate: decider,
            to: makeReceiver(reporter)
        ) { result, _ in
            promise.fill(with: result.map(makeValue))
        }
        ResourceTimeout.limit(self, checked.url, until: promise) { [weak exchange] in exchange?.cancel(with: $0) }
        return Task(promise, reporter: reporter, uponCancel: { _ in exchange.cancel() })
    }
}
