import Foundation

#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

/// What a response means for a file of which `length` bytes are there.
enum DownloadPlan {
    /// The body is the whole file. The validator is nil when it can't be resumed later.
    case restart(ResumeValidator?)

    /// The body is the rest of the file, which ends at `total` when that is known.
    case append(total: Int64?)

    /// Nothing is missing. The response is one that fits a complete file.
    case alreadyComplete(URLResponse)

    /// The range can't be used; a request without one is needed.
    case startOver

    /// The body is not the file.
    case reject(HTTPURLResponse)

    /// - Parameters:
    ///   - url: what is downloaded.
    ///   - isRangeRequested: whether the rest of the part was asked for, which ``ResponseFraming`` has compared with a 206.
    ///   - validator: what the part belongs to.
    init(
        _ response: URLResponse,
        of url: URL,
        isRangeRequested: Bool,
        length: Int64,
        validator: ResumeValidator?
    ) {
        guard let response = response as? HTTPURLResponse else {
            self = .restart(nil)
            return
        }
        let total = validator?.total
        let range = response.value(forHTTPHeaderField: "Content-Range").flatMap(ContentRange.init)
        switch response.statusCode {
        case 206 where isRangeRequested:
            let isRest = Self.continues(response, range, length: length, total: total)
            let isSame = validator?.isSame(as: response) ?? false
            self = isRest && isSame ? .append(total: range?.total ?? total) : .startOver
        case 416 where isRangeRequested:
            self = Self.afterRefusal(response, range, length: length, total: total)
        case 200..<300:
            let hasIdentityCoding = response.value(forHTTPHeaderField: "Content-Encoding") == nil
            let expected = BodyLength.expected(from: response, method: "GET")
            let isWhole = response.statusCode == 200 && hasIdentityCoding
            self = .restart(isWhole ? ResumeValidator(from: response, total: expected, url: url) : nil)
        default:
            self = .reject(response)
        }
    }

    private static func continues(
        _ response: HTTPURLResponse,
        _ range: ContentRange?,
        length: Int64,
        total: Int64?
    ) -> Bool {
        guard let range, let bytes = range.bytes, bytes.lowerBound == length,
            response.value(forHTTPHeaderField: "Content-Encoding") == nil
        else { return false }
        // The rest has to reach the end, and the end has to be where it was.
        let isLast = range.total.map { bytes.upperBound == $0 - 1 } ?? true
        let isSameTotal = range.total == nil || total == nil || range.total == total
        return isLast && isSameTotal
    }

    private static func afterRefusal(
        _ response: HTTPURLResponse,
        _ range: ContentRange?,
        length: Int64,
        total: Int64?
    ) -> DownloadPlan {
        guard let range, range.bytes == nil, range.total == length, total == nil || total == length,
            let url = response.url,
            let complete = HTTPURLResponse(
                url: url,
                statusCode: 200,
                httpVersion: "HTTP/1.1",
                headerFields: ["Content-Length": String(length)]
            )
        else { return .startOver }
        return .alreadyComplete(complete)
    }
}
