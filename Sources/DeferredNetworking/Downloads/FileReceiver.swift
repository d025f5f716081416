import Foundation

/// Streams a response's body into a ``PartialFile``, and interprets the response to a range request: in the end, the
/// destination has the complete file or is left unchanged.
///
/// A resuming download continues the part that an earlier one left in `<destination>.partial`, if the server still has
/// the same file, and leaves its own part there when it fails. Other downloads leave nothing behind.
struct FileReceiver: ResponseReceiver {
    private enum Body {
        case file

        /// A 416 for a part that is already complete.
        case alreadyComplete(ResponseHead)
        case nothing
    }

    private let destination: URL
    private let isResuming: Bool
    private let onProgress: @Sendable (BodyProgress) -> Void

    /// The file of the attempt.
    private var file: PartialFile?
    private var isRangeRequested = false
    private var body = Body.nothing

    /// The number of bytes that were there before the body.
    private var offset: Int64 = 0

    /// - Parameter onProgress: receives the progress of the whole file, including bytes from earlier downloads.
    init(to destination: URL, resuming: Bool, onProgress: @escaping @Sendable (BodyProgress) -> Void = { _ in }) {
        self.destination = destination
        isResuming = resuming
        self.onProgress = onProgress
    }

    var wantsOwnConnection: Bool { true }

    mutating func begin(_ request: CheckedRequest, of exchange: Exchange) throws -> CheckedRequest {
        let request = request.uncached()
        // A response to the caller's own range isn't the whole file, and only GET has ranges: RFC 9110, section 14.2.
        let isResumable = isResuming && request.value(of: "Range") == nil && request.method == "GET"
        let file =
            try self.file
            ?? PartialFile(
                destination: destination,
                of: request.url,
                isResumable: isResumable,
                isOver: { [weak exchange] in exchange?.hasEnded ?? true }
            )
        isRangeRequested = self.file == nil && file.canResume
        (self.file, body) = (file, .nothing)
        // Offsets count bytes of the file itself, not of a compressed form.
        let result = isResumable ? request.setting("identity", for: "Accept-Encoding") : request
        guard isRangeRequested, let validator = file.validator else { return result }
        return result.setting("bytes=\(file.length)-", for: "Range").setting(validator.field, for: "If-Range")
    }

    mutating func receive(head: ResponseHead, of exchange: Exchange) throws -> HeadVerdict {
        guard var file else { throw FileFailure.writing(destination.path, .EBADF) }
        // Another attempt follows, whose file is the one that is wanted.
        guard exchange.isFinal(head) else {
            body = .nothing
            return .refuse
        }
        defer { self.file = file }
        let plan = DownloadPlan(
            head,
            of: exchange.url,
            isRangeRequested: isRangeRequested,
            length: file.length,
            validator: file.validator
        )
        offset = 0
        switch plan {
        case .restart(let validator):
            try file.restart(validator: validator)
            body = .file
        case .append:
            try file.resume()
            offset = file.length
            body = .file
        case .alreadyComplete(let response):
            body = .alreadyComplete(response)
            onProgress(.received(file.length, of: file.length, resumed: file.length))
        case .startOver:
            let range = head.value(of: "Content-Range").map { " with Content-Range: \(DisplayText.quoted($0))" } ?? ""
            throw URLError(
                .badServerResponse,
                failing: exchange.url,
                description: "The response has status \(head.status.code)\(range), so its body is not the whole file; "
                    + "correct the server",
                underlying: ResponseFraming.UnusableRange()
            )
        case .reject:
            // The file may still follow a 401.
            body = .nothing
            return .refuse
        }
        return .take
    }

    mutating func receive(bytes: Data) throws {
        if case .file = body { try file?.append(bytes) }
    }

    func report(_ progress: BodyProgress) {
        guard case .file = body, progress.direction == .received else { return }
        let total = progress.total.map { offset + $0 }
        onProgress(.received(offset + progress.completed, of: total, resumed: offset))
    }

    mutating func finish(_ result: Result<ResponseHead, any Error>) -> AttemptEnd {
        let received: Result<ReceivedResponse, any Error>
        do {
            var head = try result.get()
            switch body {
            case .file: break
            case .alreadyComplete(let complete): head = complete
            case .nothing: throw URLError(.badServerResponse, failing: head.url)
            }
            try file?.complete()
            received = .success(.file(head))
        } catch {
            let underlying = (error as? URLError)?.userInfo[NSUnderlyingErrorKey]
            if isRangeRequested, underlying is ResponseFraming.UnusableRange { return .startOver }
            received = .failure(error)
        }
        file?.abandon()
        file = nil
        return .result(received)
    }
}
