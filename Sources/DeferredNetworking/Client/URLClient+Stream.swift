public import DeferredTask
public import Foundation

#if canImport(FoundationNetworking)
public import FoundationNetworking
#endif

extension URLClient {
    /// Begins a request, and gives the response as soon as its head is there. Its body is read as it comes.
    ///
    /// For bodies of any length, for those without an end, and for those that matter from the first byte. Memory stays
    /// bounded. Over ``Configuration/Engine/libcurl``, a reader that is slower than the server holds it up: at most
    /// ``Configuration/streamBufferLimit`` bytes wait. `URLSession` can't do that, so there what isn't read in time
    /// waits in an unnamed temporary file, beyond ``Configuration/streamBufferSize`` bytes, and a slow reader of an
    /// endless body fills the disk. Such a transfer fails with a `CocoaError`.
    ///
    /// - Parameters:
    ///   - request: See ``begin(_:options:)-(URLRequest,_)``.
    ///   - options: What holds for this request only.
    /// - Returns: A task that ends with the head; it fails until then like that of ``begin(_:options:)-(URLRequest,_)``, also after a
    ///   status that isn't accepted. Later failures, deadlines and shutdowns are thrown by the body, in which cancelling the
    ///   task has no part any longer: see ``StreamingResponse/Body/cancel()``. Attempts end with the head, too.
    public func stream(_ request: URLRequest, options: RequestOptions = .init()) -> Task<StreamingResponse> {
        stream(.unchecked(request), options: options, in: ProgressReporter(unit: .bytes))
    }

    /// Begins a request whose response is read as it comes, with any body.
    package func stream(
        _ request: SubmittedRequest,
        options: RequestOptions,
        in reporter: ProgressReporter
    ) -> Task<StreamingResponse> {
        core.begin(request, options: options, reporter: reporter) { attempt in
            let sink = StreamSink(attempt, onProgress: reporter.counting(.received))
            let transfer = attempt.transfer(
                attempt.request,
                AttemptSink(sink, attempt, validation: attempt.validation)
            )
            return { transfer.abort(with: $0) }
        }
    }

    /// Begins a `GET` request whose body is read as it comes. See ``stream(_:options:)-(URLRequest,_)``.
    public func stream(_ url: URL, options: RequestOptions = .init()) -> Task<StreamingResponse> {
        stream(URLRequest(url: url), options: options)
    }
}
