internal import DeferredCore
public import DeferredTask
public import Foundation

#if canImport(FoundationNetworking)
public import FoundationNetworking
#endif

extension URLClient {
    /// The body of an upload. It can be sent more than once: after a redirect, a challenge or a failure.
    public enum UploadBody: Sendable {
        /// Bytes in memory: the fastest.
        case data(Data)

        /// A regular file, read while it is sent. It must not change meanwhile.
        case file(URL)

        /// A closure that returns a new stream each time the body is sent. Its length is unknown.
        ///
        /// The request fails with ``URLClientError/invalidRequest(reason:)`` for a stream that was read or closed
        /// before, and with `URLError.cannotOpenFile` for one that can't be opened.
        ///
        /// Over `URLSession` on Linux, a stream that has no bytes available when it is opened counts as empty, and a
        /// stream that blocks also blocks all sessions of the process: use only streams over memory or files there.
        case stream(@Sendable () -> InputStream)
    }

    /// Begins a request with a body, and succeeds with the response and its body.
    ///
    /// - Parameters:
    ///   - request: A request whose method has a body. Its `httpBody` is replaced.
    ///   - body: The body to send.
    ///   - options: Settings for this request only.
    /// - Returns: A task like that of ``begin(_:options:)-(URLRequest,_)``, whose progress counts the bytes of the body
    ///   that the system has taken; those of a stream have no total. It fails with
    ///   ``URLClientError/invalidRequest(reason:)`` for a `GET`, and for a file that can't be read. If a file becomes
    ///   shorter while it is sent, the task fails, on Linux at once, otherwise at the idle deadline. On Linux and over
    ///   HTTP/2, it also fails at the idle deadline if the server answers without reading the body.
    public func upload(
        _ request: URLRequest,
        from body: UploadBody,
        options: RequestOptions = .init()
    ) -> Task<(Data, ResponseHead)> {
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
            let locals: TaskLocals? = TaskLocals(ofRunningCode: ())
            source = .stream { locals.restore(makeStream) }
        }
        return begin(request, source, counting: .sent, options)
    }

    /// Begins a `POST` request with a body. See ``upload(_:from:options:)-(URLRequest,_,_)``.
    public func upload(
        _ url: URL,
        from body: UploadBody,
        options: RequestOptions = .init()
    ) -> Task<(Data, ResponseHead)> {
        var request = URLRequest(url: url)
        request.httpMethod = "POST"
        return upload(request, from: body, options: options)
    }
}
