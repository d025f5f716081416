public import DeferredTask
public import Foundation

#if canImport(FoundationNetworking)
public import FoundationNetworking
#endif

extension URLSession {
    /// Begins a request with a body in memory, and succeeds with the response and its body.
    ///
    /// ```swift
    /// let upload = URLSession.shared.beginUploadTask(with: request, from: image)
    /// upload.uponProgress(on: .main) { bar.fraction = $0.fraction }
    /// ```
    ///
    /// - Parameters:
    ///   - request: See ``beginDataTask(with:configure:)-(URLRequest,_)``. Its method must have a body; its own body is
    ///     replaced.
    ///   - data: The body.
    ///   - configure: See ``beginDataTask(with:configure:)-(URLRequest,_)``.
    /// - Returns: A task like that of ``beginDataTask(with:configure:)-(URLRequest,_)``, whose progress counts the bytes
    ///   of the body that the system has taken.
    public func beginUploadTask(
        with request: URLRequest,
        from data: Data,
        configure: (@Sendable (URLSessionTask) -> Void)? = nil
    ) -> Task<(Data, URLResponse)> {
        var request = request
        request.httpBodyStream = nil
        request.httpBody = data
        return begin(request, counting: .sent, configure: configure)
    }

    /// Begins a request whose body is a file, and succeeds with the response and its body.
    ///
    /// The file is read while it is sent, and must not change meanwhile. It is sent again after a redirect that keeps the
    /// body.
    ///
    /// - Parameters:
    ///   - request: See ``beginUploadTask(with:from:configure:)``.
    ///   - file: A readable regular file; for anything else, the task fails with
    ///     ``URLClientError/Code/invalidRequest(reason:)``.
    ///   - configure: See ``beginDataTask(with:configure:)-(URLRequest,_)``.
    /// - Returns: See ``beginUploadTask(with:from:configure:)``.
    public func beginUploadTask(
        with request: URLRequest,
        fromFile file: URL,
        configure: (@Sendable (URLSessionTask) -> Void)? = nil
    ) -> Task<(Data, URLResponse)> {
        var request = request
        request.httpBodyStream = nil
        request.httpBody = nil
        return begin(request, body: .file(file), counting: .sent, configure: configure)
    }
}
