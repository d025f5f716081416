import Foundation

#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

/// Maps the platform's errors to more specific codes, and adds the URL that failed.
enum ErrorMapping {
    /// The state of the exchange when the task completed.
    struct Context {
        var url: URL?
        var received: Int64 = 0
        var expected: Int64?
        var hasResponse = false
    }

    static func mapped(_ error: any Error, in context: Context) -> any Error {
        guard let error = error as? URLError else { return error }
        // From below a cache, which the receiver has to know again.
        if error.userInfo[NSUnderlyingErrorKey] is ResponseFraming.UnusableRange { return error }
        if error.code == .badURL, !context.hasResponse, let url = context.url { return CheckedRequest.refusal(of: url) }
        let text = LibcurlTexts.redacted(error.localizedDescription)
        // Otherwise, the causes say what this text leaves out.
        let isWhole = text == error.localizedDescription
        if LibcurlTexts.isCutOff(text) || wasClosed(error), let expected = context.expected,
            context.received < expected
        {
            return URLClientError.truncatedBody(received: context.received, expected: expected)
        }
        return URLError(
            code(for: error.code, text: text, hasResponse: context.hasResponse),
            failing: error.failingURL ?? context.url,
            description: LibcurlTexts.explained(text),
            underlying: isWhole ? URLError(error.code, failing: error.failingURL, keeping: error.userInfo) : nil,
            keeping: isWhole ? error.userInfo : error.userInfo.filter { $0.key != NSUnderlyingErrorKey }
        )
    }

    /// Returns whether Darwin reports that the server closed the connection in good order: both that and a broken
    /// connection are `networkConnectionLost` there, but the latter's cause is in the system's domain, not in that of
    /// HTTP (4).
    private static func wasClosed(_ error: URLError) -> Bool {
        guard error.code == .networkConnectionLost else { return false }
        let cause = (error.userInfo[NSUnderlyingErrorKey] as? NSError)?.userInfo ?? [:]
        return [error.userInfo, cause].contains { $0["_kCFStreamErrorDomainKey"] as? Int == 4 }
    }

    private static func code(for code: URLError.Code, text: String, hasResponse: Bool) -> URLError.Code {
        switch code {
        case .unknown where LibcurlTexts.isLost(text), .badServerResponse where LibcurlTexts.isLost(text),
            .secureConnectionFailed where LibcurlTexts.isLost(text):
            .networkConnectionLost
        // Requests are checked before they are sent, so the unsupported part is the status line, not the URL.
        case .unsupportedURL, .badServerResponse:
            .badServerResponse
        // Darwin's codes for heads, chunks and codings that can't be read, and for heads without an end.
        case .cannotParseResponse, .cannotDecodeRawData, .cannotDecodeContentData, .dataLengthExceedsMaximum:
            .badServerResponse
        // Darwin's code for a connection that was closed without a byte.
        case .zeroByteResource:
            .networkConnectionLost
        case .unknown:
            LibcurlTexts.tlsCode(text)
                ?? (hasResponse || LibcurlTexts.isMalformed(text) ? .badServerResponse : .unknown)
        default:
            code
        }
    }
}
