package import DeferredTask
package import Foundation

#if canImport(FoundationNetworking)
package import FoundationNetworking
#endif

/// The three ways to take a response, for a client and for a chain of loaders. None of them takes a response that isn't HTTP.
extension Transport {
    /// Begins a request whose response is gathered in memory, and reports the progress of the body in one direction.
    package func gather(
        _ original: URLRequest,
        _ check: () throws(URLClientError) -> CheckedRequest,
        options: URLClient.RequestOptions,
        policies: RequestPolicies,
        counting direction: BodyProgress.Direction,
        resuming resumable: ResumableBody? = nil,
        in reporter: ProgressReporter
    ) -> Task<(Data, ResponseHead)> {
        let onProgress = reporter.counting(direction)
        let data = DataReceiver(limit: configuration.maximumBodySize, onProgress: onProgress)
        let attempt = Exchange.Attempt(resumable.map { ResumableUploadReceiver($0, data) } ?? data)
        return begin(original, check, options: options, policies: policies, reporter: reporter, to: attempt) {
            $0.data
        }
    }

    /// Begins a request whose response is read as it arrives, with any kind of request body.
    package func stream(
        _ original: URLRequest,
        _ check: () throws(URLClientError) -> CheckedRequest,
        options: URLClient.RequestOptions,
        policies: RequestPolicies,
        in reporter: ProgressReporter
    ) -> Task<StreamingResponse> {
        let receiver = StreamReceiver(StreamBuffer(configuration), onProgress: reporter.counting(.received))
        return begin(original, check, options: options, policies: policies, reporter: reporter, to: .init(receiver)) {
            StreamingResponse(head: $0.stream.head, body: $0.stream.body)
        }
    }

    /// Begins a download into a file, with any kind of request body. It succeeds once the file is complete.
    package func download(
        _ original: URLRequest,
        _ check: () throws(URLClientError) -> CheckedRequest,
        to destination: URL,
        resuming: Bool,
        options: URLClient.RequestOptions,
        policies: RequestPolicies,
        in reporter: ProgressReporter
    ) -> Task<(URL, ResponseHead)> {
        let receiver = FileReceiver(to: destination, resuming: resuming, onProgress: reporter.countingFile())
        return begin(original, check, options: options, policies: policies, reporter: reporter, to: .init(receiver)) {
            (destination, $0.file)
        }
    }
}
