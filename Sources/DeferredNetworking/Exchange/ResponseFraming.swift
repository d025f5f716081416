import Foundation

#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

/// Rejects responses that contradict themselves or the requested range: RFC 9110, sections 8.6, 14.4 and 15.3.7.
enum ResponseFraming {
    /// An unusable 206, where a request without a range may succeed: the underlying error of those that
    /// ``check(_:of:)`` throws.
    struct UnusableRange: Error {}

    /// Returns the length of the body, like ``BodyLength/expected(from:method:)``.
    ///
    /// - Parameter acceptsAnyPart: Whether a part that was not asked for is a response like any other.
    static func check(
        _ head: ResponseHead,
        of request: CheckedRequest,
        acceptsAnyPart: Bool = false
    ) throws(URLError) -> Int64? {
        guard head.isHTTP else { return nil }
        func flaw(_ description: String, _ underlying: (any Error)? = nil) -> URLError {
            URLError(.badServerResponse, failing: request.url, description: description, underlying: underlying)
        }
        let length = BodyLength.expected(from: head, method: request.method)
        if length ?? 0 == 0, let field = head.value(of: "Content-Length"), BodyLength.parse(field) == nil,
            !BodyLength.isCoded(head, by: "Transfer-Encoding")
        {
            throw flaw("The response's Content-Length \(DisplayText.quoted(field)) is not a single number")
        }
        if length != 0, let codings = head.value(of: "Transfer-Encoding") {
            let text = "The response's Transfer-Encoding is \(DisplayText.quoted(codings))"
            guard BodyLength.isDecoded(codings) else { throw flaw("\(text), but may only be chunked") }
            // RFC 9112, section 6.3, lets it fail: libcurl, from 8.10 on, would take the body for empty.
            guard head.value(of: "Content-Length").flatMap(BodyLength.parse) != 0 else {
                throw flaw("\(text), but its Content-Length is 0")
            }
        }
        guard head.status == 206 else { return length }
        guard let asked = request.value(of: "Range") else {
            if acceptsAnyPart { return length }
            let range = head.value(of: "Content-Range").map { " with Content-Range: \(DisplayText.quoted($0))" } ?? ""
            throw flaw(
                "The response has status 206 (Partial Content)\(range), but no range was requested; "
                    + "set the header Range to get a part, or correct the server"
            )
        }
        if head.value(of: "Content-Type")?.lowercased().hasPrefix("multipart/byteranges") == true {
            guard asked.contains(",") else {
                throw flaw("The response has several parts, but a single range was requested", UnusableRange())
            }
            return length
        }
        let field = head.value(of: "Content-Range")
        guard let range = field.flatMap(ContentRange.init), let bytes = range.bytes else {
            throw flaw(
                "The response has status 206 without a valid Content-Range: \(DisplayText.quoted(field ?? ""))",
                UnusableRange()
            )
        }
        guard RequestedRange(asked)?.allows(bytes, of: range.total) ?? true else {
            throw flaw(
                "The response has the bytes \(bytes.lowerBound)-\(bytes.upperBound), but \(DisplayText.quoted(asked)) was requested",
                UnusableRange()
            )
        }
        guard request.method == "HEAD" || length == nil || length == Int64(bytes.count) else {
            throw flaw("The response's Content-Length and Content-Range contradict each other", UnusableRange())
        }
        return length
    }
}
