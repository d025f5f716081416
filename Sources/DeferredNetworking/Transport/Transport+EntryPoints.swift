package import DeferredTask
package import Foundation

#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

/// The three ways to take a response, for a chain of loaders.
extension Transport {
    /// Begins a request whose response is gathered in memory, and reports the progress of the body in one direction.
    package func gather(
        _ request: CheckedRequest,
        options: URLClient.RequestOptions,
        counting direction: BodyProgress.Direction,
        in reporter: ProgressReporter
    ) -> Task<(body: Data, head: ResponseHead)> {
        gather(request.request, { request }, options: options, policies: .ofChain, counting: direction, in: reporter) {
            ($0, $1)
        }
    }

    /// Begins a request whose response is read as it arrives, with any kind of request body.
    package func stream(
        _ request: CheckedRequest,
        options: URLClient.RequestOptions,
        in reporter: ProgressReporter
    ) -> Task<(body: HTTPBodyStream, head: ResponseHead)> {
        stream(request.request, { request }, options: options, policies: .ofChain, in: reporter) { ($0, $1) }
    }

    /// Begins a download into a file, with any kind of request body. It succeeds once the file is complete.
    package func download(
        _ request: CheckedRequest,
        to destination: URL,
        resuming: Bool,
        options: URLClient.RequestOptions,
        in reporter: ProgressReporter
    ) -> Task<ResponseHead> {
        download(
            request.request,
            { request },
            to: destination,
            resuming: resuming,
            options: options,
            policies: .none,
            in: reporter
        ) { $0 }
    }
}

/// The same three for a client: with policies, and with a value that `make` makes of the response. None of them takes a response
/// that isn't HTTP.
///
/// For calls in this module, which are specialised for the type of the value.
extension Transport {
    func gather<Value: Sendable>(
        _ original: URLRequest,
        _ check: () throws(URLClientError) -> CheckedRequest,
        options: URLClient.RequestOptions,
        policies: RequestPolicies,
        counting direction: BodyProgress.Direction,
        resuming resumable: ResumableBody? = nil,
        in reporter: ProgressReporter,
        as make: @escaping @Sendable (Data, ResponseHead) throws -> Value
    ) -> Task<Value> {
        let onProgress = reporter.counting(direction)
        let data = DataReceiver(limit: configuration.maximumBodySize, onProgress: onProgress)
        let attempt = Exchange.Attempt(resumable.map { ResumableUploadReceiver($0, data) } ?? data)
        return begin(original, check, options: options, policies: policies, reporter: reporter, to: attempt) {
            try make($0.data.body, $0.data.head.requiringHTTP())
        }
    }

    func stream<Value: Sendable>(
        _ original: URLRequest,
        _ check: () throws(URLClientError) -> CheckedRequest,
        options: URLClient.RequestOptions,
        policies: RequestPolicies,
        in reporter: ProgressReporter,
        as make: @escaping @Sendable (HTTPBodyStream, ResponseHead) throws -> Value
    ) -> Task<Value> {
        let receiver = StreamReceiver(StreamBuffer(configuration), onProgress: reporter.counting(.received))
        return begin(original, check, options: options, policies: policies, reporter: reporter, to: .init(receiver)) {
            try make($0.stream.body, $0.stream.head)
        }
    }

    func download<Value: Sendable>(
        _ original: URLRequest,
        _ check: () throws(URLClientError) -> CheckedRequest,
        to destination: URL,
        resuming: Bool,
        options: URLClient.RequestOptions,
        policies: RequestPolicies,
        in reporter: ProgressReporter,
        as make: @escaping @Sendable (ResponseHead) throws -> Value
    ) -> Task<Value> {
        let receiver = FileReceiver(
            to: destination,
            resuming: resuming,
            onProgress: reporter.countingFile(),
            requiresHTTP: true
        )
        return begin(original, check, options: options, policies: policies, reporter: reporter, to: .init(receiver)) {
            try make($0.file)
        }
    }
}
