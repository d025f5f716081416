public import DeferredTask
public import Foundation

#if canImport(FoundationNetworking)
public import FoundationNetworking
#endif

extension URLSession {
    /// Begins a download into a file.
    ///
    /// The bytes go to a temporary file next to `destination`, which replaces it in one step once the download is
    /// complete and on the disk, so a file at `destination` is always complete. A failed download leaves nothing behind.
    ///
    /// ```swift
    /// let download = URLSession.shared.beginDownloadTask(with: url, to: folder.appending(path: "photo.jpeg"))
    /// download.uponSuccess(on: .main) { file, _ in show(file) }
    /// ```
    ///
    /// - Parameters:
    ///   - request: See ``beginDataTask(with:configure:)-(URLRequest,_)``.
    ///   - destination: A file URL, in a folder that exists. An existing file is replaced; a device, a pipe or a socket
    ///     isn't.
    ///   - configure: See ``beginDataTask(with:configure:)-(URLRequest,_)``.
    /// - Returns: A task that is already running and succeeds with `destination` and the response. Its progress counts
    ///   bytes. Cancelling it fails it at once with `URLError.cancelled`, and stops the transfer. It fails with
    ///   ``URLClientError/Code/unacceptableStatus(code:body:)`` unless the status is 200 to 299, with a `CocoaError` that
    ///   names the path if the file can't be written, and otherwise like a data task.
    public func beginDownloadTask(
        with request: URLRequest,
        to destination: URL,
        configure: (@Sendable (URLSessionTask) -> Void)? = nil
    ) -> Task<(URL, URLResponse)> {
        begin(request, configure: configure) { reporter in
            FileReceiver(to: destination, resuming: false, onProgress: reporter.countingFile())
        } result: { response in
            (destination, response.file.urlResponse)
        }
    }

    /// Begins a download of a URL into a file. See ``beginDownloadTask(with:to:configure:)-(URLRequest,_,_)``.
    public func beginDownloadTask(
        with url: URL,
        to destination: URL,
        configure: (@Sendable (URLSessionTask) -> Void)? = nil
    ) -> Task<(URL, URLResponse)> {
        beginDownloadTask(with: URLRequest(url: url), to: destination, configure: configure)
    }
}
