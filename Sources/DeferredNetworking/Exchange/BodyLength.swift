import Foundation

/// The body length that a response announces: RFC 9112, section 6.3.
enum BodyLength {
    /// Returns the number of bytes that will be delivered, or nil when the response doesn't say.
    static func expected(from head: ResponseHead, method: String) -> Int64? {
        guard head.isHTTP else { return nil }
        if method == "HEAD" || [204, 304].contains(head.status) {
            return 0
        }
        // Bytes are counted after decoding, and the decoded length isn't announced.
        guard !isCoded(head, by: "Content-Encoding") else { return nil }
        if !isCoded(head, by: "Transfer-Encoding"), let length = head.value(of: "Content-Length") {
            return parse(length)
        }
        // A chunked body has no announced length, but a 206's Content-Range has.
        guard head.status == 206, let field = head.value(of: "Content-Range") else { return nil }
        return ContentRange(field)?.bytes.map { Int64($0.count) }
    }

    /// Returns the number in `field`, which may repeat one number but not list different ones: RFC 9110, section 8.6.
    static func parse(_ field: String) -> Int64? {
        if let length = HTTPNumber.parse(field) { return length }
        let lengths = Set(
            field.split(separator: ",", omittingEmptySubsequences: false)
                .map { HTTPNumber.parse(FieldList.trimmed($0)) }
        )
        return lengths.count == 1 ? lengths.first ?? nil : nil
    }

    /// Returns true if a field names a coding. A transfer coding frames the body, so that `Content-Length` is ignored.
    static func isCoded(_ head: ResponseHead, by field: String) -> Bool {
        guard let coding = head.value(of: field) else { return false }
        return !coding.isEmpty && coding.lowercased() != "identity"
    }

    /// Returns true if all engines decode these transfer codings. Since 8.1, libcurl skips those that it doesn't know, and all that
    /// are listed behind one.
    static func isDecoded(_ codings: String) -> Bool {
        let codings = FieldList.members(of: codings.lowercased())
        return codings.drop { $0 == "chunked" }.allSatisfy { $0 == "identity" }
    }
}
