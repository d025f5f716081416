import Foundation

/// The next step of a download, given a response and the `length` bytes that are in the file.
enum DownloadPlan {
    /// The body is the whole file. The validator is nil if the file can't be resumed later.
    case restart(ResumeValidator?)

    /// The body is the rest of the file, which ends at `total` if that is known.
    case append(total: Int64?)

    /// The file is already complete. The response is one for a complete file.
    case alreadyComplete(ResponseHead)

    /// The range can't be used; a request without one is required.
    case startOver

    /// The body is not the file.
    case reject(ResponseHead)

    /// - Parameters:
    ///   - url: the URL that is downloaded.
    ///   - isRangeRequested: whether the request was for the rest of the file; ``ResponseFraming`` has compared a 206
    ///     with it.
    ///   - validator: the validator of the bytes in the file.
    init(
        _ response: ResponseHead,
        of url: URL,
        isRangeRequested: Bool,
        length: Int64,
        validator: ResumeValidator?
    ) {
        guard response.isHTTP else {
            self = .restart(nil)
            return
        }
        let total = validator?.total
        let range = response.value(of: "Content-Range").flatMap(ContentRange.init)
        switch response.status {
        case 206 where isRangeRequested:
            let isRest = Self.continues(response, range, length: length, total: total)
            let isSame = validator?.isSame(as: response) ?? false
            self = isRest && isSame ? .append(total: range?.total ?? total) : .startOver
        case 416 where isRangeRequested:
            self = Self.afterRefusal(response, range, length: length, total: total)
        case 200..<300:
            let hasIdentityCoding = response.value(of: "Content-Encoding") == nil
            let expected = BodyLength.expected(from: response, method: "GET")
            let isWhole = response.status == 200 && hasIdentityCoding
            self = .restart(isWhole ? ResumeValidator(from: response, total: expected, url: url) : nil)
        default:
            self = .reject(response)
        }
    }

    private static func continues(
        _ response: ResponseHead,
        _ range: ContentRange?,
        length: Int64,
        total: Int64?
    ) -> Bool {
        guard let range, let bytes = range.bytes, bytes.lowerBound == length,
            response.value(of: "Content-Encoding") == nil
        else { return false }
        // The rest must reach the end of the file, and the length of the file must be unchanged.
        let isLast = range.total.map { bytes.upperBound == $0 - 1 } ?? true
        let isSameTotal = range.total == nil || total == nil || range.total == total
        return isLast && isSameTotal
    }

    private static func afterRefusal(
        _ response: ResponseHead,
        _ range: ContentRange?,
        length: Int64,
        total: Int64?
    ) -> DownloadPlan {
        guard let range, range.bytes == nil, range.total == length, total == nil || total == length,
            let url = response.url
        else { return .startOver }
        let field = ResponseHead.Field(name: "Content-Length", value: String(length))
        return .alreadyComplete(ResponseHead(url: url, version: "HTTP/1.1", status: 200, fields: [field]))
    }
}
