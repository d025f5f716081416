public import DeferredTask

#if canImport(FoundationNetworking)
import Foundation
public import FoundationNetworking
#else
public import Foundation
#endif

extension URLClient {
    /// Begins a request, and gives the response as soon as its head is there. Its body is read as it comes.
    ///
    /// For bodies of any length, for those without an end, and for those that matter from the first byte. Memory stays
    /// bounded, since what isn't read in time waits in an unnamed temporary file, beyond
    /// ``Configuration/streamBufferSize`` bytes. The server is not slowed down: URLSession on Linux can't do that, so a slow
    /// reader of an endless body fills the disk. Such a transfer fails with a `CocoaError`.
    ///
    /// - Parameter request: See ``begin(_:)-(URLRequest)``.
    /// - Returns: A task that ends with the head; it fails until then like that of ``begin(_:)-(URLRequest)``, also after a
    ///   status that isn't accepted. Later failures, deadlines and shutdowns are thrown by the body, in which cancelling the
    ///   task has no part any longer: see ``StreamingResponse/Body/cancel()``. Attempts end with the head, too.
    public func stream(_ request: URLRequest) -> Task<StreamingResponse> {
        let reporter = ProgressReporter(unit: .bytes)
        return core.begin(request, reporter: reporter) { attempt in
            let sink = StreamSink(attempt, onProgress: reporter.counting(.received))
            let transfer = attempt.transfer(
                attempt.request,
                AttemptSink(sink, attempt, validation: attempt.validation)
            )
            return { transfer.abort(with: $0) }
        }
    }
}
