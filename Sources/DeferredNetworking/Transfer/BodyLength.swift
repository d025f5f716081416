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
        // Bytes are counted after decoding, and neither coding says how many that will be.
        guard hasIdentityCoding(response, field: "Content-Encoding"),
            hasIdentityCoding(response, field: "Transfer-Encoding")
        else { return nil }
        return response.value(forHTTPHeaderField: "Content-Length").flatMap(HTTPNumber.parse)
    }

    private static func hasIdentityCoding(_ response: HTTPURLResponse, field: String) -> Bool {
        guard let coding = response.value(forHTTPHeaderField: field) else { return true }
        return coding.isEmpty || coding.lowercased() == "identity"
    }
}
