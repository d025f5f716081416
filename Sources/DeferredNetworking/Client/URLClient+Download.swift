public import DeferredTask
public import Foundation

#if canImport(FoundationNetworking)
public import FoundationNetworking
#endif

extension URLClient {
    /// Begins a download into a file.
    ///
    /// The bytes go to a file beside `destination`, which takes its place in one step when all of them have come. So a
    /// file at `destination` is always complete.
    ///
    /// - Parameters:
    ///   - request: See ``begin(_:options:)-(URLRequest,_)``. One with a `Range` of its own isn't resumed.
    ///   - destination: A file URL, in a folder that exists. A file that is there is replaced; a device, a pipe or a
    ///     socket isn't.
    ///   - resuming: Whether the part that a failed download leaves in `<destination>.partial` is used by the next one, also by
    ///     the next attempt of this one. It is, if the server still has the same file, which its `ETag` or `Last-Modified`
    ///     tell, and else begun again. With `false`, nothing is left of a download that fails.
    ///   - options: What holds for this request only.
    /// - Returns: A task that gives `destination`. Its progress counts the bytes of the whole file, and tells how many
    ///   of them were there before: ``DeferredTask/ProgressSnapshot/resumed``. It fails with
    ///   ``URLClientError/unacceptableStatus(code:body:)`` unless the status is a success, whatever the configuration
    ///   accepts, with a `CocoaError` that names the path if the file can't be written, and else like
    ///   ``begin(_:options:)-(URLRequest,_)``.
    public func download(
        _ request: URLRequest,
        to destination: URL,
        resuming: Bool = true,
        options: RequestOptions = .init()
    ) -> Task<(URL, HTTPURLResponse)> {
        download(
            request,
            body: .inRequest,
            to: destination,
            resuming: resuming,
            options: options,
            in: ProgressReporter(unit: .bytes)
        )
    }

    /// Begins a download into a file, with any body.
    package func download(
        _ request: URLRequest,
        body: CheckedRequest.Body,
        to destination: URL,
        resuming: Bool,
        options: RequestOptions,
        in reporter: ProgressReporter
    ) -> Task<(URL, HTTPURLResponse)> {
        let count = reporter.countingFile()
        return core.begin(request, body: body, options: options, reporter: reporter) { attempt in
            let download = Download(
                attempt.request,
                to: destination,
                resuming: resuming,
                onProgress: count,
                start: { attempt.transfer($0, AttemptSink($1, attempt, validation: nil)) },
                completion: { result in
                    attempt.end(with: result.flatMap { file, response in attempt.head(response).map { (file, $0) } })
                }
            )
            return { download.abort(with: $0) }
        }
    }

    /// Begins a download of a URL into a file. See ``download(_:to:resuming:options:)-(URLRequest,_,_,_)``.
    public func download(
        _ url: URL,
        to destination: URL,
        resuming: Bool = true,
        options: RequestOptions = .init()
    ) -> Task<(URL, HTTPURLResponse)> {
        download(URLRequest(url: url), to: destination, resuming: resuming, options: options)
    }
}
