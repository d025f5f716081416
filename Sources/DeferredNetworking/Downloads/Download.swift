internal import DeferredCore

#if canImport(FoundationNetworking)
package import Foundation
package import FoundationNetworking
#else
package import Foundation
#endif

/// A transfer into a file: complete at its destination in the end, or not there at all.
///
/// A resuming download goes on from what an earlier one left in `<destination>.partial`, if the server still has the same
/// file, and leaves its own part there when it fails. Any other leaves nothing.
package final class Download: Sendable {
    /// Begins one more transfer for this download.
    package typealias Start = @Sendable (CheckedRequest, any TransferSink) -> Transfer

    private enum State {
        /// The attempt tells a late report of the first transfer's beginning from the second's.
        case running(Transfer?, attempt: Int)
        case aborted(any Error)
    }

    private let state = Lock(State.running(nil, attempt: 0))
    private let request: CheckedRequest
    private let destination: URL
    private let isResuming: Bool
    private let onProgress: @Sendable (BodyProgress) -> Void
    private let completion: @Sendable (Result<(URL, URLResponse), any Error>) -> Void

    /// Begins a download and returns at once.
    ///
    /// - Parameters:
    ///   - onProgress: counts bytes of the whole file, those from earlier downloads included.
    ///   - start: begins a transfer; called a second time when the server refuses to continue.
    package init(
        _ request: CheckedRequest,
        to destination: URL,
        resuming: Bool,
        onProgress: @escaping @Sendable (BodyProgress) -> Void = { _ in },
        start: @escaping Start,
        completion: @escaping @Sendable (Result<(URL, URLResponse), any Error>) -> Void
    ) {
        self.request = request.uncached()
        self.destination = destination
        // A caller's own range isn't the file.
        isResuming = resuming && request.request.value(forHTTPHeaderField: "Range") == nil
        self.onProgress = onProgress
        self.completion = completion
        do throws(CocoaError) {
            let file = try PartialFile(destination: destination, of: request.url, isResumable: isResuming)
            begin(file, attempt: 1, asksForRange: file.canResume, start)
        } catch {
            completion(.failure(error))
        }
    }

    /// Ends the download with `URLError.cancelled`, unless it has ended. Returns without waiting.
    package func cancel() {
        abort(with: URLError(.cancelled, failing: request.url))
    }

    /// Ends the download with `error`, unless it has ended. Returns without waiting.
    package func abort(with error: any Error) {
        let transfer = state.withLock { state -> Transfer? in
            guard case .running(let transfer, _) = state else { return nil }
            state = .aborted(error)
            return transfer
        }
        transfer?.abort(with: error)
    }

    private func begin(_ file: PartialFile, attempt: Int, asksForRange: Bool, _ start: @escaping Start) {
        let sink = DownloadSink(file, of: request.url, isRangeRequested: asksForRange, onProgress: onProgress) {
            file,
            outcome in
            self.end(file, outcome, attempt: attempt, mayStartOver: asksForRange, start)
        }
        let transfer = start(ranged(asksForRange ? file : nil), sink)
        let abortion = state.withLock { state -> (any Error)? in
            switch state {
            case .running(_, let newest):
                if newest < attempt {
                    state = .running(transfer, attempt: attempt)
                }
                return nil
            case .aborted(let error):
                return error
            }
        }
        if let abortion {
            transfer.abort(with: abortion)
        }
    }

    private func end(
        _ file: PartialFile,
        _ outcome: DownloadSink.Outcome,
        attempt: Int,
        mayStartOver: Bool,
        _ start: @escaping Start
    ) {
        var file = file
        switch outcome {
        case .mustStartOver where mayStartOver:
            begin(file, attempt: attempt + 1, asksForRange: false, start)
        case .mustStartOver:
            file.abandon()
            completion(.failure(URLError(.badServerResponse, failing: request.url)))
        case .ended(let result):
            file.abandon()
            completion(result.map { (destination, $0) })
        }
    }

    /// The request, for the bytes that `file` lacks.
    private func ranged(_ file: PartialFile?) -> CheckedRequest {
        // Offsets count the file's own bytes, not those of a compressed form.
        let result = isResuming ? request.setting("identity", for: "Accept-Encoding") : request
        guard let file, let validator = file.validator else { return result }
        return result.setting("bytes=\(file.length)-", for: "Range").setting(validator.field, for: "If-Range")
    }
}
