package import DeferredTask
package import Foundation

#if canImport(FoundationNetworking)
package import FoundationNetworking
#endif

/// The three ways to take a response. Their requests are checked by `check`, when their beginning has been reported.
extension Transport {
    /// Begins a request whose response is gathered in memory, and reports the progress of the body in one direction.
    ///
    /// - Parameter make: Makes the result of the body and its head.
    package func gather<Value: Sendable>(
        _ original: URLRequest,
        _ check: @autoclosure () throws(URLClientError) -> CheckedRequest,
        options: URLClient.RequestOptions,
        policies: RequestPolicies = .none,
        counting direction: BodyProgress.Direction,
        in reporter: ProgressReporter,
        as make: @escaping @Sendable (Data, ResponseHead) throws -> Value
    ) -> Task<Value> {
        let limit = configuration.maximumBodySize
        return begin(original, check, options: options, policies: policies, reporter: reporter) { attempt in
            let sink = DataSink(limit: limit, onProgress: reporter.counting(direction)) { result in
                attempt.end(
                    with: Result {
                        let (body, head) = try result.get()
                        return try make(body, head)
                    }
                )
            }
            let transfer = attempt.transfer(
                attempt.request,
                AttemptSink(sink, attempt, validation: attempt.validation)
            )
            return { transfer.abort(with: $0) }
        }
    }

    /// Begins a request whose response is read as it arrives, with any kind of request body.
    ///
    /// - Parameter make: Makes the result of the head and the body.
    package func stream<Value: Sendable>(
        _ original: URLRequest,
        _ check: @autoclosure () throws(URLClientError) -> CheckedRequest,
        options: URLClient.RequestOptions,
        policies: RequestPolicies = .none,
        in reporter: ProgressReporter,
        as make: @escaping @Sendable (ResponseHead, StreamingResponse.Body) throws -> Value
    ) -> Task<Value> {
        begin(original, check, options: options, policies: policies, reporter: reporter) { attempt in
            let sink = StreamSink(attempt, onProgress: reporter.counting(.received), as: make)
            let transfer = attempt.transfer(
                attempt.request,
                AttemptSink(sink, attempt, validation: attempt.validation)
            )
            return { transfer.abort(with: $0) }
        }
    }

    /// Begins a download into a file, with any kind of request body.
    ///
    /// - Parameter make: Makes the result of the response's head, once the file is complete.
    package func download<Value: Sendable>(
        _ original: URLRequest,
        _ check: @autoclosure () throws(URLClientError) -> CheckedRequest,
        to destination: URL,
        resuming: Bool,
        options: URLClient.RequestOptions,
        policies: RequestPolicies = .none,
        in reporter: ProgressReporter,
        as make: @escaping @Sendable (ResponseHead) throws -> Value
    ) -> Task<Value> {
        let count = reporter.countingFile()
        return begin(original, check, options: options, policies: policies, reporter: reporter) { attempt in
            let download = Download(
                attempt.request,
                to: destination,
                resuming: resuming,
                onProgress: count,
                start: { attempt.transfer($0, AttemptSink($1, attempt, validation: nil)) },
                completion: { result in attempt.end(with: Result { try make(result.get()) }) }
            )
            return { download.abort(with: $0) }
        }
    }
}
