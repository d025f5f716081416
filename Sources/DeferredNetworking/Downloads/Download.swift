internal import DeferredCore
package import Foundation

/// A transfer into a file: in the end, the destination has the complete file or is left unchanged.
///
/// A resuming download continues the part that an earlier one left in `<destination>.partial`, if the server still has
/// the same file, and leaves its own part there when it fails. Other downloads leave nothing behind.
package final class Download: Sendable {
    /// Begins another transfer for this download.
    package typealias Start = @Sendable (CheckedRequest, any TransferSink) -> Transfer

    private enum State {
        /// The attempt distinguishes a late report that the first transfer has begun from that of the second.
        case running(Transfer?, attempt: Int)
        case aborted(any Error)
    }

    private let state = Lock(State.running(nil, attempt: 0))
    private let request: CheckedRequest
    private let destination: URL
    private let isResuming: Bool
    private let onProgress: @Sendable (BodyProgress) -> Void
    private let completion: @Sendable (Result<ResponseHead, any Error>) -> Void

    /// Begins a download and returns at once.
    ///
    /// - Parameters:
    ///   - onProgress: receives the progress of the whole file, including bytes from earlier downloads.
    ///   - start: begins a transfer; called a second time when the server doesn't continue the part.
    package init(
        _ request: CheckedRequest,
        to destination: URL,
        resuming: Bool,
        onProgress: @escaping @Sendable (BodyProgress) -> Void = { _ in },
        start: @escaping Start,
        completion: @escaping @Sendable (Result<ResponseHead, any Error>) -> Void
    ) {
        self.request = request.uncached()
        self.destination = destination
        // A response to the caller's own range isn't the whole file, and only GET has ranges: RFC 9110, section 14.2.
        isResuming = resuming && request.value(of: "Range") == nil && request.method == "GET"
        self.onProgress = onProgress
        self.completion = completion
        do throws(CocoaError) {
            let file = try PartialFile(destination: destination, of: request.url, isResumable: isResuming)
            begin(file, attempt: 1, asksForRange: file.canResume, start)
        } catch {
            completion(.failure(error))
        }
    }

    /// Ends the download with `URLError.cancelled`, unless it has ended. Doesn't block.
    package func cancel() {
        abort(with: URLError(.cancelled, failing: request.url))
    }

    /// Ends the download with `error`, unless it has ended. Doesn't block.
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
            self.end(file, outcome, attempt: attempt, start)
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
        _ start: @escaping Start
    ) {
        var file = file
        switch outcome {
        case .mustStartOver:
            begin(file, attempt: attempt + 1, asksForRange: false, start)
        case .ended(let result):
            file.abandon()
            completion(result)
        }
    }

    /// Returns the request, for the bytes that `file` lacks if there is one.
    private func ranged(_ file: PartialFile?) -> CheckedRequest {
        // Offsets count bytes of the file itself, not of a compressed form.
        let result = isResuming ? request.setting("identity", for: "Accept-Encoding") : request
        guard let file, let validator = file.validator else { return result }
        return result.setting("bytes=\(file.length)-", for: "Range").setting(validator.field, for: "If-Range")
    }
}
