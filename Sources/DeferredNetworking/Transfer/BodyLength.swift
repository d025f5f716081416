import Foundation

#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

/// How many bytes of body a response announces: RFC 9112, section 6.3.
enum BodyLength {
    /// The number of bytes that will be delivered, or nil when the response doesn't tell.
    static func expected(from response: URLResponse, method: String) -> Int64? {
        guard let response = response as? HTTPURLResponse else {
            return response.expectedContentLength >= 0 ? response.expectedContentLength : nil
        }
        if method == "HEAD" || [204, 304].contains(response.statusCode) {
            return 0
        }
        // Bytes are counted after decoding, and the coding doesn't say how many that will be.
        guard hasIdentityCoding(response, field: "Content-Encoding") else { return nil }
        if !isEncoded(response), let length = response.value(forHTTPHeaderField: "Content-Length") {
            return parse(length)
        }
        // Chunks don't tell, but a part does.
        guard response.statusCode == 206, let field = response.value(forHTTPHeaderField: "Content-Range") else {
            return nil
        }
        return ContentRange(field)?.bytes.map { Int64($0.count) }
    }

    /// The one number that `field` gives, if only several times: RFC 9110, section 8.6.
    static func parse(_ field: String) -> Int64? {
        if let length = HTTPNumber.parse(field) { return length }
        let lengths = Set(
            field.split(separator: ",", omittingEmptySubsequences: false)
                .map { HTTPNumber.parse($0.trimmingCharacters(in: .whitespaces)) }
        )
        return lengths.count == 1 ? lengths.first ?? nil : nil
    }

    /// Whether a transfer coding frames the body, so that a `Content-Length` doesn't count.
    static func isEncoded(_ response: HTTPURLResponse) -> Bool {
        !hasIdentityCoding(response, field: "Transfer-Encoding")
    }

    private static func hasIdentityCoding(_ response: HTTPURLResponse, field: String) -> Bool {
        guard let coding = response.value(forHTTPHeaderField: field) else { return true }
        return coding.isEmpty || coding.lowercased() == "identity"
    }
}
