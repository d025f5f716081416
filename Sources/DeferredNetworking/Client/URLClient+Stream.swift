public import DeferredTask
public import Foundation

#if canImport(FoundationNetworking)
public import FoundationNetworking
#endif

extension URLClient {
    /// Begins a request, and succeeds with the response as soon as its head has arrived. The body is read as it
    /// arrives.
    ///
    /// For bodies of any length, for endless ones, and for those that matter from the first byte. Memory stays bounded.
    /// Over ``Configuration/Engine/libcurl``, a slow reader exerts back pressure on the server: at most
    /// ``Configuration/streamBufferLimit`` bytes wait. `URLSession` has no back pressure, so bytes beyond
    /// ``Configuration/streamBufferSize`` wait in an unnamed temporary file, and a slow reader of an endless body fills
    /// the disk. Such a transfer fails with a `CocoaError`.
    ///
    /// - Parameters:
    ///   - request: See ``begin(_:options:)-(URLRequest,_)``.
    ///   - options: Settings for this request only.
    /// - Returns: A task that ends with the head. Until then it fails like that of
    ///   ``begin(_:options:)-(URLRequest,_)``, also for a status that isn't accepted. Later failures, deadlines and
    ///   shutdowns are thrown by the body. Retries end with the head, and cancelling the task has no effect on the
    ///   body: see ``HTTPBodyStream/cancel()``.
    public func stream(_ request: URLRequest, options: RequestOptions = .init()) -> Task<StreamingResponse> {
        stream(request, .inRequest, options)
    }

    /// Begins a request with a body, whose response is read as it arrives: over libcurl also while the body is sent.
    ///
    /// ```swift
    /// let response = try await client.stream(request, from: .stream(questions)).get()
    /// for try await answer in response.body.lines { show(answer) }
    /// ```
    ///
    /// See ``upload(_:from:options:)-(URLRequest,_,_)`` for the body, and ``stream(_:options:)-(URLRequest,_)`` for the
    /// response. The response's body may end before that of the request, which then goes on by itself, to its own end.
    public func stream(
        _ request: URLRequest,
        from body: UploadBody,
        options: RequestOptions = .init()
    ) -> Task<StreamingResponse> {
        let (request, source) = body.set(in: request)
        return stream(request, source, options)
    }

    private func stream(
        _ request: URLRequest,
        _ body: CheckedRequest.Body,
        _ options: RequestOptions
    ) -> Task<StreamingResponse> {
        transport.stream(
            request,
            { () throws(URLClientError) in try CheckedRequest(request, body: body, hasCache: transport.hasCache) },
            options: options,
            policies: policies(options),
            in: ProgressReporter(unit: .bytes)
        )
    }

    /// Begins a `GET` request whose body is read as it arrives. See ``stream(_:options:)-(URLRequest,_)``.
    public func stream(_ url: URL, options: RequestOptions = .init()) -> Task<StreamingResponse> {
        stream(URLRequest(url: url), options: options)
    }
}
