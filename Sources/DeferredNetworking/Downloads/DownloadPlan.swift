import Foundation

/// The next step of a download, given a response and the `length` bytes that are in the file.
enum DownloadPlan {
    /// The body is the whole file. The validator is nil if the file can't be resumed later.
    case restart(ResumeValidator?)

    /// The body is the rest of the file.
    case append

    /// The file is already complete. The response is one for a complete file.
    case alreadyComplete(ResponseHead)

    /// The body is neither the file nor the rest of it. A request without a range may get the file.
    case startOver

    /// The body is not the file.
    case reject

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
        let field = response.value(of: "Content-Range")
        let range = field.flatMap(ContentRange.init)
        // Unless the response is of use.
        self = .startOver
        switch response.status.code {
        case 206 where isRangeRequested:
            guard let bytes = range?.bytes, bytes.lowerBound == length, response.value(of: "Content-Encoding") == nil,
                validator?.isSame(as: response) == true
            else { return }
            // The rest must reach the end of the file, and the length of the file must be known and unchanged.
            let totals = [range?.total, validator?.total].compactMap { $0 }
            if !totals.isEmpty, totals.allSatisfy({ $0 == bytes.upperBound + 1 }) { self = .append }
        case 416 where isRangeRequested:
            guard let range, range.bytes == nil, range.total == length, let validator,
                // A refusal needs no validator, if the part is known to be the whole of one response.
                validator.total == length && !validator.differs(from: response)
                    || validator.total == nil && validator.isSame(as: response)
            else { return }
            let headers: HTTPHeaders = ["Content-Length": String(length)]
            self = .alreadyComplete(ResponseHead(url: response.url, status: 200, headers: headers))
        case 200..<300 where isRangeRequested && (response.status != 200 || field != nil && range == nil):
            // What remains of the file, or how it was changed, is anybody's guess.
            break
        case 200..<300:
            let expected = BodyLength.expected(from: response, method: "GET")
            // It has no meaning but in a 206, but servers that forget the status do send parts.
            if let range, response.status != 206, !Self.isWhole(range, expected) { return }
            let isResumable = response.status == 200 && response.value(of: "Content-Encoding") == nil
            self = .restart(isResumable ? ResumeValidator(from: response, total: expected, url: url) : nil)
        default:
            self = .reject
        }
    }

    private static func isWhole(_ range: ContentRange, _ length: Int64?) -> Bool {
        guard let bytes = range.bytes, let total = range.total else { return false }
        return Int64(bytes.count) == total && (length ?? total) == total
    }
}
