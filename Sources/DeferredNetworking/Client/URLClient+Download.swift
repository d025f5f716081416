public import DeferredTask
public import Foundation

#if canImport(FoundationNetworking)
public import FoundationNetworking
#endif

extension URLClient {
    /// Begins a download into a file.
    ///
    /// The bytes go to a file next to `destination`, which replaces it in one step once the download is complete, so a
    /// file at `destination` is always complete.
    ///
    /// - Parameters:
    ///   - request: See ``begin(_:options:)-(URLRequest,_)``. A request that has its own `Range`, or another
    ///     method than `GET`, isn't resumed.
    ///   - destination: A file URL, in a folder that exists. An existing file is replaced; a device, a pipe or a socket
    ///     isn't.
    ///   - resuming: Whether to keep the part that a failed download has received, as `<destination>.partial`, and to
    ///     continue it in the next attempt or download. It resumes if the response has the same `ETag` or `Last-Modified`
    ///     and reaches the end of the file, and otherwise starts over. With `false`, a failed download leaves nothing behind.
    ///   - options: Settings for this request only.
    /// - Returns: A task that succeeds with `destination` and the response. Its progress counts the bytes of the whole
    ///   file. It fails with ``URLClientError/Code/unacceptableStatus(code:body:)`` unless the status is 200 to 299,
    ///   whatever the configuration accepts, with a `CocoaError` that names the path if the file can't be written, and
    ///   otherwise like ``begin(_:options:)-(URLRequest,_)``.
    public func download(
        _ request: URLRequest,
        to destination: URL,
        resuming: Bool = true,
        options: RequestOptions = .init()
    ) -> Task<(URL, ResponseHead)> {
        transport.download(
            request,
            { () throws(URLClientError) in try CheckedRequest(request, hasCache: transport.hasCache) },
            to: destination,
            resuming: resuming,
            options: options,
            policies: policies(options),
            in: ProgressReporter(unit: .bytes)
        )
    }

    /// Begins a download of a URL into a file. See ``download(_:to:resuming:options:)-(URLRequest,_,_,_)``.
    public func download(
        _ url: URL,
        to destination: URL,
        resuming: Bool = true,
        options: RequestOptions = .init()
    ) -> Task<(URL, ResponseHead)> {
        download(URLRequest(url: url), to: destination, resuming: resuming, options: options)
    }
}
