#if canImport(FoundationNetworking)
import Foundation
import FoundationNetworking
#else
import Foundation
#endif

/// Streams a response's body into a ``PartialFile``, and interprets the response to a range request.
///
/// SAFETY: a sink has one transfer, which calls it in order and never twice at once, and whose lock orders the calls.
final class DownloadSink: TransferSink, @unchecked Sendable {
    enum Outcome {
        case ended(Result<ResponseHead, any Error>)

        /// The response doesn't continue the existing part: the whole file has to be requested again.
        case mustStartOver
    }

    private enum Body {
        /// The file, which ends at `total` if that is known.
        case file(total: Int64?)

        /// A 416 for a part that is already complete.
        case alreadyComplete(ResponseHead)
        case nothing
    }

    private var file: PartialFile
    private var body = Body.nothing
    private var offset: Int64 = 0

    private let url: URL
    private let isRangeRequested: Bool
    private let onProgress: @Sendable (BodyProgress) -> Void
    private let completion: @Sendable (PartialFile, Outcome) -> Void

    /// - Parameter completion: takes the file back, still open unless it is complete.
    init(
        _ file: PartialFile,
        of url: URL,
        isRangeRequested: Bool,
        onProgress: @escaping @Sendable (BodyProgress) -> Void,
        completion: @escaping @Sendable (PartialFile, Outcome) -> Void
    ) {
        self.file = file
        self.url = url
        self.isRangeRequested = isRangeRequested
        self.onProgress = onProgress
        self.completion = completion
    }

    var wantsOwnConnection: Bool { true }

    func receive(head: ResponseHead) throws -> Bool {
        let plan = DownloadPlan(
            head,
            of: url,
            isRangeRequested: isRangeRequested,
            length: file.length,
            validator: file.validator
        )
        offset = 0
        switch plan {
        case .restart(let validator):
            try file.restart(validator: validator)
            body = .file(total: nil)
        case .append(let total):
            try file.resume()
            offset = file.length
            body = .file(total: total)
        case .alreadyComplete(let response):
            body = .alreadyComplete(response)
            onProgress(.received(file.length, of: file.length, resumed: file.length))
        case .startOver:
            let range = head.value(of: "Content-Range").map { " with Content-Range: \(DisplayText.quoted($0))" } ?? ""
            throw URLError(
                .badServerResponse,
                failing: url,
                description: "The response has status \(head.status.code)\(range), so its body is not the whole file; "
                    + "correct the server",
                underlying: ResponseFraming.UnusableRange()
            )
        case .reject:
            // The file may still follow a 401.
            body = .nothing
            return false
        }
        return true
    }

    func receive(bytes: Data) throws {
        if case .file = body { try file.append(bytes) }
    }

    func report(_ progress: BodyProgress) {
        guard case .file = body, progress.direction == .received else { return }
        let total = progress.total.map { offset + $0 }
        onProgress(.received(offset + progress.completed, of: total, resumed: offset))
    }

    func finish(_ result: Result<ResponseHead, any Error>) {
        let outcome = outcome(of: result)
        // The file changes hands here; this object isn't called again.
        completion(file, outcome)
    }

    private func outcome(of result: Result<ResponseHead, any Error>) -> Outcome {
        let response: ResponseHead
        switch result {
        case .success(let received): response = received
        case .failure(let error as URLError)
        where isRangeRequested && error.userInfo[NSUnderlyingErrorKey] is ResponseFraming.UnusableRange:
            return .mustStartOver
        case .failure:
            return .ended(result)
        }
        switch body {
        case .file(let total):
            if let total, file.length < total {
                return .ended(.failure(URLClientError.truncatedBody(received: file.length, expected: total).about(url)))
            }
            return .ended(completeFile(with: response))
        case .alreadyComplete(let response):
            return .ended(completeFile(with: response))
        case .nothing:
            return .ended(.failure(URLError(.badServerResponse, failing: response.url)))
        }
    }

    private func completeFile(with response: ResponseHead) -> Result<ResponseHead, any Error> {
        do throws(CocoaError) {
            try file.complete()
            return .success(response)
        } catch {
            return .failure(error)
        }
    }
}
