public import DeferredTask
public import Foundation

#if canImport(FoundationNetworking)
public import FoundationNetworking
#endif

extension URLClient {
    /// The body of an upload, which can be sent more than once: after a redirect, a challenge or a failure.
    public enum UploadBody: Sendable {
        /// Bytes in memory: the fastest.
        case data(Data)

        /// A regular file, read while it is sent. It must not change meanwhile.
        case file(URL)

        /// A fresh stream for each time that the body is sent, of unknown length.
        ///
        /// With one that was read or closed before, the request fails with ``URLClientError/invalidRequest(reason:)``,
        /// and with one that can't be opened, with `URLError.cannotOpenFile`.
        ///
        /// Over `URLSession` on Linux, a stream that has no bytes available when it is opened counts as empty, and one
        /// that blocks holds up all sessions of the process: use streams over memory or files there.
        case stream(@Sendable () -> InputStream)
    }

    /// Begins a request with a body, and gives the body and the response that come back.
    ///
    /// - Parameters:
    ///   - request: With a method that has a body. A `httpBody` of its own is replaced.
    ///   - body: What to send.
    ///   - options: What holds for this request only.
    /// - Returns: A task like that of ``begin(_:options:)-(URLRequest,_)``, whose progress counts the bytes of the body
    ///   that the system has taken; those of a stream have no total. It fails with
    ///   ``URLClientError/invalidRequest(reason:)`` for a `GET`, and for a file that can't be read. A file that becomes
    ///   shorter while it is sent ends at the idle deadline, or over libcurl at once; so does, on Linux and over
    ///   HTTP/2, at the idle deadline, a server that answers without reading the body.
    public func upload(
        _ request: URLRequest,
        from body: UploadBody,
        options: RequestOptions = .init()
    ) -> Task<(Data, HTTPURLResponse)> {
        var request = request
        request.httpBodyStream = nil
        request.httpBody = nil
        let source: CheckedRequest.Body
        switch body {
        case .data(let data):
            request.httpBody = data
            source = .inRequest
        case .file(let file):
            source = .file(file)
        case .stream(let makeStream):
            source = .stream(makeStream)
        }
        return gather(
            .unchecked(request, source),
            options: options,
            counting: .sent,
            in: ProgressReporter(unit: .bytes)
        )
    }

    /// Begins a `POST` request with a body. See ``upload(_:from:options:)-(URLRequest,_,_)``.
    public func upload(
        _ url: URL,
        from body: UploadBody,
        options: RequestOptions = .init()
    ) -> Task<(Data, HTTPURLResponse)> {
        var request = URLRequest(url: url)
        request.httpMethod = "POST"
        return upload(request, from: body, options: options)
    }
}
